"""Opens the writer that a plan names."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agent_client.models.endpoint import Endpoint, NamedKey, Retries
from servers.records import KEY
from synth.llm.batch import BatchWriter
from synth.llm.batch_folder import BatchFolder
from synth.llm.cache import Cache
from synth.llm.endpoint import Embedder, EndpointWriter
from synth.llm.exchange import Recorder
from synth.llm.recording import RecordingWriter
from synth.llm.writer import Writer
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan


@asynccontextmanager
async def writer_for(
    plan: RunPlan, folder: SynthesisFolder, api_key: str, *, on_retry: Callable[[str], None] | None = None
) -> AsyncGenerator[Writer]:
    """The writer, with open connections. `on_retry` is called before each wait for an endpoint."""
    cache = Cache(plan.cache or folder.path / "cache")
    recorder = Recorder(plan.record) if plan.record is not None else None
    if plan.writer == "recording":
        yield RecordingWriter(*plan.recordings)
    elif plan.writer == "batch":
        yield _batch(plan, folder.path / "batch", cache, recorder)
    else:
        async with EndpointWriter(
            _endpoint(plan, api_key, on_retry),
            plan.model,
            sampling=plan.sampling,
            cache=cache,
            recorder=recorder,
            at_once=plan.at_once,
            structured=plan.structured,
        ) as writer:
            yield writer


@asynccontextmanager
async def embedder_for(plan: RunPlan, api_key: str) -> AsyncGenerator[Embedder | None]:
    """The embedding model, with open connections, if the plan names one."""
    if not plan.embeddings:
        yield None
        return
    async with _endpoint(plan, api_key) as endpoint:
        yield Embedder(endpoint, plan.embeddings)


def _endpoint(plan: RunPlan, api_key: str, on_retry: Callable[[str], None] | None = None) -> Endpoint:
    return Endpoint(
        plan.base_url,
        api_key=NamedKey(api_key, KEY),
        seconds=plan.seconds,
        retries=Retries(plan.attempts, on_retry=on_retry),
        connections=plan.at_once,
    )


def _batch(plan: RunPlan, path: Path, cache: Cache, recorder: Recorder | None) -> BatchWriter:
    files = BatchFolder(path)
    if plan.batch_results is not None:
        files.adopt(plan.batch_results)
    return BatchWriter(
        files,
        plan.model,
        cache,
        base_url=plan.base_url,
        sampling=plan.sampling,
        structured=plan.structured,
        recorder=recorder,
    )
