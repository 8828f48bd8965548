"""The command `farm benchmark`: imports public benchmarks if they are not there, plays them, prints their numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from agent_client.rules import LimitsOf
from evals.runs.suite import ModelEndpoint, SimulatedUser, Suite, SuiteOrder, ToolFormat, read_suite
from servers.cli.command_options import AsJson, BaseUrl
from servers.cli.secret_options import ApiKey, UserApiKey
from servers.errors import RequestError
from servers.records import OPENAI
from synth.interop.benchmark_commands import HERE, import_acebench, import_bfcl, import_tau_bench

app = typer.Typer()
BenchmarkName = Literal["tau-bench", "bfcl-v3", "bfcl-v4", "acebench"]
ALL: tuple[BenchmarkName, ...] = get_args(BenchmarkName)
SOURCES: dict[BenchmarkName, str] = {"tau-bench": "tau-bench", "bfcl-v3": "bfcl-v3", "acebench": "ACEBench"}
"""The folders of clones and data, beside each other, where several benchmarks are imported."""
SUITES = Path(__file__).parents[2] / "evals" / "suites"
NEED_USER = ("tau-bench", "acebench")


@app.command("benchmark")
def benchmark(
    names: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(ALL)}; by default all.")] = None,
    *,
    model: Annotated[str, typer.Option(help="The model that is evaluated.")],
    run: Annotated[Path, typer.Option("--out", help="The run's folder; of several, that of a run for each.")],
    user_model: Annotated[str | None, typer.Option(help="The model that plays the user.")] = None,
    source: Annotated[Path | None, typer.Option("--from", help="Your clone or data, if not imported yet.")] = None,
    imported: Annotated[Path, typer.Option(help="The folder of the imported bundles.")] = HERE,
    only: Annotated[list[str] | None, typer.Option(help="An environment that is played, instead of all.")] = None,
    trials: Annotated[int, typer.Option(min=1, max=1000, help="How often each task is played.")] = 1,
    sample: Annotated[int | None, typer.Option(min=1, help="Play so many tasks, drawn by seed 0.")] = None,
    limits_of: Annotated[LimitsOf, typer.Option(help="Whose limits: the benchmark's own, or EnvScaler's paper's.")] = (
        "official"
    ),
    tools: Annotated[ToolFormat, typer.Option(help="How the model writes calls.")] = "function_calling",
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Episodes at once.")] = 8,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes of the farm.")] = 1,
    base_url: BaseUrl = OPENAI,
    user_base_url: Annotated[str | None, typer.Option(help="The endpoint of the user's model.")] = None,
    api_key: ApiKey = "",
    user_api_key: UserApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Play public benchmarks as their own harnesses do, and print their numbers. The same command continues."""
    suites: dict[BenchmarkName, Suite] = {
        name: _suite(
            name,
            {"kind": "chat", "model": model, "tools": tools},
            user={"model": user_model, "base_url": user_base_url} if user_model else None,
            only=own,
            plan={"attempts": trials, "concurrency": concurrency},
            sample=sample,
            limits_of=limits_of,
        )
        for name, own in _chosen(_named(names or ()), only or []).items()
    }
    if not api_key and "openai.com" in base_url:
        raise RequestError("the agent's endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    for name, suite in suites.items():
        _make_sure_it_is_there(name, suite, imported, source if len(suites) == 1 else _among(source, name))
    from evals.suite_play import BenchmarkResults, play_suite

    with BenchmarkResults(as_json=as_json, is_one=len(suites) == 1) as results:
        for name, suite in suites.items():
            wanted = SuiteOrder(
                suite=suite,
                run=run / name if len(suites) > 1 else run,
                endpoint=ModelEndpoint(base_url, api_key, user_api_key),
                farm=None,
                token="",
                library=(imported,),
                workers=workers,
                prompt_price=0.0,
                completion_price=0.0,
                as_json=as_json,
            )
            play_suite(wanted, tell=results.add)


def _among(folder: Path | None, name: BenchmarkName) -> Path | None:
    """A benchmark's clone or data in a folder of several. BFCL v4 is an installed package."""
    return folder / SOURCES[name] if folder is not None and name in SOURCES else None


def _named(names: Sequence[str]) -> Sequence[BenchmarkName]:
    """The benchmarks of these names; all without any. Raises RequestError."""
    unknown = [name for name in names if name not in ALL]
    if unknown:
        raise RequestError(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(ALL)}")
    return [name for name in ALL if name in names or not names]


def _chosen(names: Sequence[BenchmarkName], only: list[str]) -> dict[BenchmarkName, list[str]]:
    """The benchmarks to play, each with those of its environments that are chosen. Raises RequestError."""
    there: dict[BenchmarkName, tuple[str, ...]] = {
        name: read_suite(SUITES / f"{name}.toml").scenarios.environments for name in names
    }
    unknown = [one for one in only if not any(one in environments for environments in there.values())]
    if unknown:
        known = ", ".join(one for environments in there.values() for one in environments)
        raise RequestError(f"--only {unknown[0]}: no such environment is of {', '.join(names)}; there are: {known}")
    chosen: dict[BenchmarkName, list[str]] = {}
    for name, environments in there.items():
        own = [one for one in only if one in environments]
        if own or not only:
            chosen[name] = own
    return chosen


def _suite(
    name: BenchmarkName,
    agent: dict[str, Any],
    *,
    user: dict[str, Any] | None,
    only: list[str],
    plan: dict[str, Any],
    sample: int | None,
    limits_of: LimitsOf,
) -> Suite:
    """The benchmark's suite with a model, and with a model for the user. Raises RequestError."""
    suite = read_suite(SUITES / f"{name}.toml", agent=agent)
    needs_user = any("multi_step" not in one for one in only or suite.scenarios.environments)
    if name in NEED_USER and user is None and needs_user:
        raise RequestError(f"a model plays the user of {name}: name one with --user-model")
    choice = suite.scenarios.model_copy(
        update={"environments": tuple(only) or suite.scenarios.environments, "sample": sample}
    )
    told = {
        **suite.model_dump(exclude={"user"}),
        "scenarios": choice,
        "user": SimulatedUser.model_validate(user) if user and name in NEED_USER else None,
        "run": {**suite.run.model_dump(), **plan},
        "limits_of": limits_of,
    }
    return Suite.model_validate(told)


def _make_sure_it_is_there(name: BenchmarkName, suite: Suite, imported: Path, source: Path | None) -> None:
    """Import what is not there yet. Raises RequestError if that needs a clone, and none is given."""
    missing = [one for one in suite.scenarios.environments if not (imported / one).is_dir()]
    if not missing:
        return
    if name == "bfcl-v4":
        import_bfcl(source if source and source.name != "bfcl_eval" else None, "v4", None, source, imported)
        return
    if source is None:
        raise RequestError(f"{imported / missing[0]}: is not imported; give your clone or data of {name} with --from")
    match name:
        case "tau-bench":
            for domain in ("retail", "airline"):
                if f"tau_bench_{domain}_test" in missing:
                    import_tau_bench(source, domain, "test", imported)
        case "acebench":
            import_acebench(source, None, imported)
        case _:
            import_bfcl(source, "v3", None, None, imported)
