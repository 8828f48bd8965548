"""The command `farm benchmark`: imports a public benchmark if it is not there, plays it, and prints its number."""

from pathlib import Path
from typing import Annotated, Any, Literal

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
SUITES = Path(__file__).parents[2] / "evals" / "suites"
NEED_USER = ("tau-bench", "acebench")


@app.command("benchmark")
def benchmark(
    name: Annotated[BenchmarkName, typer.Argument(help="The benchmark.")],
    *,
    model: Annotated[str, typer.Option(help="The model that is evaluated.")],
    run: Annotated[Path, typer.Option("--out", help="The run's folder; one that was begun is gone on with.")],
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
    """Play a public benchmark as its own harness does, and print its number. The same command continues."""
    suite = _suite(
        name,
        {"kind": "chat", "model": model, "tools": tools},
        user={"model": user_model, "base_url": user_base_url} if user_model else None,
        only=only or [],
        plan={"attempts": trials, "concurrency": concurrency},
        sample=sample,
        limits_of=limits_of,
    )
    if not api_key and "openai.com" in base_url:
        raise RequestError("the agent's endpoint needs a key: OPENAI_API_KEY (or another --base-url)")
    _make_sure_it_is_there(name, suite, imported, source)
    wanted = SuiteOrder(
        suite=suite,
        run=run,
        endpoint=ModelEndpoint(base_url, api_key, user_api_key),
        farm=None,
        token="",
        library=(imported,),
        workers=workers,
        prompt_price=0.0,
        completion_price=0.0,
        as_json=as_json,
    )
    from evals.suite_play import play_suite
    from synth.interop.benchmark_result import tell_result

    play_suite(wanted, tell=lambda folder: tell_result(suite, folder, as_json=as_json))


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
    unknown = [one for one in only if one not in suite.scenarios.environments]
    if unknown:
        there = ", ".join(suite.scenarios.environments)
        raise RequestError(f"--only {unknown[0]}: {name} has no such environment; there are: {there}")
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
