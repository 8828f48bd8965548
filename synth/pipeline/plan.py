"""The plan of a run: a TOML file, or options of the command, which take precedence."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError

from servers.errors import NotFound, RequestError
from servers.files.toml_file import TomlError, toml_named
from servers.files.trouble import trouble
from servers.records import OPENAI, EndpointUrl, Record
from servers.validation import first_problem
from synth.llm.writer import Sampling
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import Prices
from synth.pipeline.stage import Wishes

Engine = Literal["asyncio", "ray"]
"""Where jobs run: on this machine, or on a Ray cluster."""
SeedSize = Literal["small", "medium", "large"]
WriterName = Literal["endpoint", "batch", "recording"]

ONCE = frozenset({"out", "again", "batch_results"})
"""Keys that apply to a single start."""
OF_ONE_WRITER = frozenset({"writer", "serve_vllm", "vllm_arguments", "recordings", "embeddings"})
BY_NAME = "hf:"
"""The prefix of a data set's name in `tasks`."""


class RunPlan(Record):
    """The keys of a config file. Most are options of the command too. Files are relative to the working directory."""

    out: Path
    topics: tuple[str, ...] = ()
    imported: tuple[Path, ...] = ()
    """Imported bundles to rewrite."""
    tasks: Path | None = None
    n: int | None = Field(default=None, ge=1)
    size: SeedSize = "small"
    writer: WriterName = "endpoint"
    base_url: EndpointUrl = OPENAI
    model: str = ""
    embeddings: str = ""
    structured: bool = True
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    sampling_seed: int | None = None
    seconds: float = Field(default=300.0, gt=0)
    attempts: int = Field(default=6, ge=1)
    prompt_price: float = Field(default=0.0, ge=0)
    completion_price: float = Field(default=0.0, ge=0)
    cache: Path | None = None
    record: Path | None = None
    recordings: tuple[Path, ...] = ()
    batch_results: Path | None = None
    at_once: int = Field(default=64, ge=1)
    again: bool = False
    serve_vllm: str = ""
    vllm_arguments: tuple[str, ...] = ()
    engine: Engine = "asyncio"

    @classmethod
    def of(cls, config: Path | None, options: Mapping[str, Any]) -> Self:
        """A plan from an optional file and options. Raises NotFound, or RequestError with the key."""
        keys: dict[str, Any] = _read(config) if config is not None else {}
        unknown = sorted(keys.keys() - cls.model_fields.keys())
        if unknown:
            there = ", ".join(cls.model_fields)
            raise RequestError(f"{config}: unknown key {unknown[0]!r}; there are: {there}")
        try:
            plan = cls.model_validate({**keys, **options})
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            if fault["loc"] == ("out",) and fault["type"] == "missing":
                raise RequestError("--out DIR is needed: the folder of the run") from None
            where = f"{config}: " if config is not None else ""
            raise RequestError(f"{where}{first_problem(error)}") from None
        plan._check()
        return plan

    @classmethod
    def resumed(cls, folder: SynthesisFolder, options: Mapping[str, Any]) -> Self:
        """The plan of the last start, if any, with options taking precedence. Raises like `of`."""
        before = {key: value for key, value in folder.asked_before().items() if key in cls.model_fields.keys() - ONCE}
        if not before and not options.keys() & {"topics", "imported", "tasks", "writer", "model", "serve_vllm"}:
            raise RequestError(
                f"{folder.path} holds no run to go on with; a new one wants --topic, --tasks or --from, and --model"
            )
        if "writer" in options:
            before = {key: value for key, value in before.items() if key not in OF_ONE_WRITER}
        return cls.of(None, {**before, **options})

    @property
    def wishes(self) -> Wishes:
        """The wishes for the stages."""
        return Wishes(size=self.size)

    @property
    def prices(self) -> Prices:
        """The price of a million tokens."""
        return Prices(prompt=self.prompt_price, completion=self.completion_price)

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters of the model."""
        return Sampling(
            temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_tokens, seed=self.sampling_seed
        )

    def _check(self) -> None:
        self._check_source()
        if self.writer == "recording" and not self.recordings:
            raise RequestError("--writer recording wants --recording FILE")
        if self.writer != "recording" and not (self.model or self.serve_vllm):
            raise RequestError(f"--writer {self.writer} wants --model NAME")
        if self.embeddings and (self.writer != "endpoint" or self.tasks is None):
            raise RequestError("--embeddings goes with --tasks and --writer endpoint")
        if self.serve_vllm and self.writer != "endpoint":
            raise RequestError("--serve-vllm goes with --writer endpoint")
        if self.batch_results is not None and self.writer != "batch":
            raise RequestError("--batch-results goes with --writer batch")
        if self.engine == "ray" and self.writer == "batch":
            raise RequestError("--writer batch needs no --engine ray: nothing is waited for")

    def _check_source(self) -> None:
        """Check what is to be made."""
        if self.imported and (self.topics or self.tasks is not None or self.engine == "ray"):
            raise RequestError("--from goes without --topic, --tasks and --engine ray: a run makes one kind")
        if self.tasks is not None and self.n is None:
            raise RequestError("--tasks wants --n, how many environments to make of them")
        if self.tasks is None and self.n is not None:
            raise RequestError("--n goes with --tasks")
        if self.tasks is not None and not str(self.tasks).startswith(BY_NAME) and not self.tasks.exists():
            raise NotFound(f"--tasks {self.tasks}: no such file")


def _read(config: Path) -> dict[str, Any]:
    try:
        return toml_named(config)
    except OSError as error:
        raise NotFound(f"{config}: cannot be read: {trouble(error)}") from None
    except TomlError as error:
        raise RequestError(f"{config}: no TOML: {error}") from None
