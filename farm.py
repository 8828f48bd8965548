"""The command `farm`: knows the name and help of every command, loads the one that is to run, and exits with its code.

0 done, 1 failed, 2 misused. This file imports by name, as `envfarm.py` does: `openai`, `mcp`, `fastapi` and the like
take seconds to import, and most commands need none of them.
"""

import os

TYPE_CHECKING = False  # as a type checker reads it, without the import of `typing`
if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal  # there from Python's start; `signal` imports `enum` and more, which Ctrl-C would break off

INTERRUPTED = 130


def _end_quietly(*_: object) -> None:
    os.write(2, b"farm: interrupted\n")
    os._exit(INTERRUPTED)


if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _end_quietly)  # until a command is imported

import errno
import importlib
import importlib.util
import signal
import sys
from importlib import metadata
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NamedTuple, cast

OF_OTHERS = 0o077
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
PACKAGES = ("agent_client", "bench", "evals", "registry", "rl_training", "servers", "synth")


def _shadowed() -> list[str]:
    """Our packages that another distribution shadows on this import path, with a line about each."""
    home = Path(__file__).resolve().parent
    found: list[str] = []
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        places = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin or ""]
        if places and home / name not in (Path(place).resolve() for place in places):
            found.append(name)
            sys.stderr.write(
                f"farm: {places[0]} stands before envfarm's own package {name!r} on the import path; uninstall it, or"
                f" take it out of PYTHONPATH and of this folder\n"
            )
    return found


SHADOWED = _shadowed()
if "servers" in SHADOWED:
    sys.exit(1)

import typer
from typer.core import TyperCommand, TyperGroup

from servers.errors import FarmError, RequestError
from servers.telemetry.logs import to_stderr
from servers.text.terminal import clean

USAGE_ERROR: Any = typer.BadParameter.__base__
"""Misuse of a command line as a whole. typer has no public name for it."""


class Listed(NamedTuple):
    """A command as `farm --help` lists it, and the module whose `app` has it."""

    help: str
    module: str
    also: str = ""
    """A second module, with more of its sub-commands."""
    hidden: bool = False
    interrupted: str = ""
    """How work that Ctrl-C broke off is gone on with, where anything of it is kept."""


GOES_ON = "the same command goes on where it stopped"
COMMANDS: dict[str, dict[str, Listed]] = {
    "Look and play": {
        "demo": Listed(
            "Start a farm, play scenarios three ways over real HTTP, and show the rewards. Needs no key.",
            "evals.commands",
        ),
        "environments": Listed("List the environments of the library.", "servers.environments_command"),
        "scenarios": Listed(
            "List the scenarios of an environment, shortest solution first, show one in full, or add some.",
            "servers.catalogue_commands",
        ),
        "tools": Listed(
            "List the tools of an environment with their arguments, or show one in full.", "servers.catalogue_commands"
        ),
        "play": Listed(
            "Play one scenario and show the episode live. Exit code 0 if every checkpoint holds.",
            "evals.play_command",
        ),
        "connect": Listed(
            "Print the configuration with which Claude, or another MCP client, connects to an environment.",
            "registry.commands",
        ),
        "serve": Listed(
            "Serve one fresh instance of a bundle to one MCP client: over stdio, or over HTTP with --port.",
            "servers.serve_commands",
        ),
    },
    "Operate": {
        "up": Listed(
            "Start a farm: the registry and its workers. Ctrl-C ends it, and the next start has its instances again.",
            "registry.commands",
        ),
        "open": Listed(
            "Open the pages of the running farm in a browser, with a link that lets it in once, within two minutes.",
            "registry.commands",
        ),
        "launch": Listed(
            "Launch instances on the running farm, and print their leases (URL and token) as JSON.",
            "registry.commands",
        ),
        "instances": Listed("List the live instances of the running farm, the newest first.", "registry.commands"),
        "ps": Listed(
            "List the workers of the running farm, and its live instances by environment.", "registry.state_command"
        ),
        "state": Listed(
            "List the tables of an instance, or print the rows of one, ordered by key.", "registry.state_command"
        ),
        "diff": Listed("Print the rows of an instance that differ from its start.", "registry.state_command"),
        "history": Listed(
            "Print the calls of an instance, oldest first, with their results and the rows that they changed.",
            "registry.state_command",
        ),
        "sql": Listed(
            "Ask the state of an instance with one SELECT. It runs on a copy and changes nothing.",
            "registry.state_command",
        ),
        "score": Listed(
            "Judge an instance of the running farm by its scenario's checkpoints, and print the score as JSON.",
            "registry.commands",
        ),
        "close": Listed(
            "End instances of the running farm, and delete their state.",
            "registry.commands",
        ),
        "doctor": Listed(
            "Show which walls around guests this machine has. Exit code 1 if one is missing.",
            "servers.commands",
        ),
        "read-runs": Listed(
            "Read runs for the pages of a farm, which starts this with its folders on standard input.",
            "synth.runner.run_reader",
            hidden=True,
        ),
        "worker": Listed(
            "Serve instances for the registry of another process or machine, which it joins with a token.",
            "servers.worker_command",
        ),
        "move": Listed(
            "Move an instance to another worker. Its agent needs the new URL and token.",
            "registry.state_command",
        ),
        "drain": Listed(
            "Launch nothing more on a worker of the running farm. One that joined ends when its last lease has ended.",
            "registry.state_command",
        ),
    },
    "Write and prove": {
        "new": Listed(
            "Make a small, complete environment in this folder, as a start for your own.",
            "servers.commands",
        ),
        "check": Listed(
            "Print all findings about bundles. Exit code 1 if there are any.",
            "servers.commands",
        ),
        "derive": Listed(
            "Derive the tool schemas of a bundle from the signatures and docstrings of its tools.py.",
            "servers.commands",
        ),
        "prove": Listed(
            "Prove an environment by running it, without a model. Exit code 1 if there is a finding.",
            "synth.prove.commands",
            interrupted="what --write has written stays, and --stale leaves it out",
        ),
        "equal": Listed(
            "Compare a rewritten bundle with the imported one that it was written from. Exit code 1 if they differ.",
            "synth.relational.commands",
        ),
        "certify": Listed(
            "Test the checkpoints of scenarios with wrong runs. Exit code 1 if one gets no certificate.",
            "synth.scenarios.certify_command",
            interrupted="what --write has written stays, and --stale leaves it out",
        ),
        "hack": Listed(
            "Search for wrong runs with reward 1, without a model. Exit code 1 if there are any.",
            "synth.scenarios.certify_command",
            interrupted="with --out the same command goes on where it stopped",
        ),
        "synth": Listed(
            "Write environments with a language model, and prove them.",
            "synth.commands",
            also="synth.scenarios.commands",
            interrupted=GOES_ON,
        ),
        "import": Listed(
            "Import environments of others as bundles.",
            "synth.interop.commands",
            also="synth.interop.benchmark_commands",
        ),
        "audit": Listed(
            "Run imported environments: which tools work, what the checks are worth, what is not repeatable.",
            "synth.interop.audit_command",
            interrupted="with --out the same command goes on where it stopped",
        ),
    },
    "Evaluate and train": {
        "eval": Listed(
            "Play a suite and write its run. After an interruption the same command continues.",
            "evals.eval_command",
            interrupted=GOES_ON,
        ),
        "benchmark": Listed(
            "Play public benchmarks as their own harnesses do, and print their numbers. The same command continues.",
            "synth.interop.benchmark_run_command",
            interrupted=GOES_ON,
        ),
        "report": Listed(
            "Report the success of runs with error bars, the causes of failures, and a comparison.",
            "evals.report.commands",
        ),
        "show": Listed(
            "List the rollouts of a run, or read one: calls, results, changed rows, verdicts, and the reference beside"
            " it.",
            "evals.report.commands",
        ),
        "judge": Listed(
            "Repeat stored rollouts on fresh instances, judge them by today's checkpoints, and show what changed.",
            "evals.judge_command",
        ),
        "export": Listed(
            "Write runs and bundles in the formats of others.", "evals.export.command", also="synth.interop.commands"
        ),
        "rl": Listed("Train agents on the farm with verl.", "rl_training.commands"),
        "evolve": Listed(
            "Evaluate an agent, make certified scenarios where it is weak, train it, repeat. A stopped run goes on.",
            "rl_training.evolve_command",
            interrupted=GOES_ON,
        ),
        "bench": Listed(
            "Measure the farm on this machine beside its peers, and write a table (Markdown, JSON) and a plot (SVG).",
            "bench.commands",
        ),
    },
}
"""The commands in the order of `farm --help`, by heading. A test compares them with the real ones."""

LISTED = {name: listed for under in COMMANDS.values() for name, listed in under.items()}


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Take a SIGTERM as Ctrl-C, so that a command ends what it has begun and deletes its temporary files."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background jobs
        signal.default_int_handler(number, frame)
    signal.raise_signal(signal.SIGINT)


class CommandLine(TyperGroup):
    """`farm`: help and completion come from `COMMANDS`, and a command is imported when it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for heading, commands in COMMANDS.items():
            for name, listed in commands.items():
                self.add_command(TyperCommand(name, help=listed.help, hidden=listed.hidden, rich_help_panel=heading))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called. What typer says of an option is told in our words, with the help of it."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if isinstance(error.__cause__, ValueError) and _is_validation_error(error.__cause__):
                error.message = importlib.import_module("servers.validation").first_reason(error.__cause__)
            if error.param is None or error.param.callback is None:  # a callback says all that there is
                about = getattr(error.param, "help", None)
                if about and type(error).__name__ == "MissingParameter" and _choices_follow(error):
                    about = about.rstrip(".")
                error.message = ". ".join(filter(None, (error.message.rstrip("."), about)))
            raise
        except USAGE_ERROR as error:
            if "unexpected extra argument" in error.message and any(
                "--scenario" in one.opts for one in _options(error)
            ):
                error.message += ". A scenario is named by --scenario ID"
            raise
        except KeyboardInterrupt:
            _tell_interrupted(LISTED.get(ctx.invoked_subcommand))
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that was called, imported now. `farm help COMMAND` stands for `farm COMMAND --help`."""
        if args[0] == "help":
            self.main(args=[*args[1:], "--help"], prog_name="farm")
        name, listed, rest = super().resolve_command(ctx, args)
        command = loaded(name) if name in LISTED else listed
        if signal.getsignal(signal.SIGINT) is _end_quietly:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _interrupt)
        return name, command, rest


def _choices_follow(error: Any) -> bool:
    """Whether typer ends a sentence with a full stop, and goes on with the choices that there are."""
    return bool(error.param.get_missing_message(ctx=error.ctx))


def _options(error: Any) -> list[Any]:
    """The options and arguments of the command that was misused."""
    return error.ctx.command.params if error.ctx else []


def loaded(name: str) -> Any:
    """Import a command, with all of its sub-commands."""
    listed = LISTED[name]
    command = _command_of(listed.module, name)
    if listed.also:
        command.commands.update(_command_of(listed.also, name).commands)
    return command


def _command_of(module: str, name: str) -> Any:
    app: typer.Typer = importlib.import_module(module).app
    return typer.main.get_group(app).commands[name]


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"envfarm {metadata.version('envfarm')}\n")
        raise typer.Exit


app = typer.Typer(
    cls=CommandLine,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Environments for LLM agents: MCP servers with SQLite state, launched per scenario and judged.",
)


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """The options of every command."""


def main() -> None:
    """Run the command line."""
    _mend_surroundings()
    to_stderr("error", process="farm")
    try:
        _call_command()
    except RequestError as error:
        sys.exit(_told(str(error), 2))
    except FarmError as error:
        sys.exit(_told(str(error), 1))
    except ValueError as error:
        if not _is_validation_error(error):
            raise
        sys.exit(_told("; ".join(importlib.import_module("servers.validation").problems(error)), 2))
    except OSError as error:
        if error.errno not in DISK_IS_FULL:
            raise
        sys.exit(_told(f"{_unwritten(error)} cannot be written: {error.strerror}", 1))
    except ImportError:
        if not SHADOWED:
            raise
        sys.exit(1)  # what is in the way has been named
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _unwritten(error: OSError) -> str:
    """What a full disk does not take: a file, or the output."""
    if error.filename is not None:
        return f"{error.filename}:"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python fails once more at its end
    return "the output"


def _mend_surroundings() -> None:
    """Make standard streams, umask and the terminal's width usable, whatever this process was started with."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed: the next file that is opened would take its number
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
    os.umask(os.umask(OF_OTHERS) & OF_OTHERS)  # what is taken from its owner could not be opened again
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character that the encoding lacks, as in ASCII
    if os.environ.get("COLUMNS", "").strip("0") == "":
        os.environ.pop("COLUMNS", None)  # nothing fits into 0 columns, so nothing would be shown


def _call_command() -> None:
    try:
        app(prog_name="farm")
    except BaseExceptionGroup as group:
        raise _expected_in(group) from None
    finally:
        sys.stdout.flush()  # else a full disk is met at the end of Python, whose words are its own
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end_quietly)


def _expected_in(group: BaseExceptionGroup[Any]) -> BaseException:
    """The error that ended tasks which ran side by side. The group itself if any of it is a fault of ours."""
    if group.split((FarmError, OSError, SystemExit, KeyboardInterrupt))[1] is not None:
        return group
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = cast("tuple[BaseException, ...]", error.exceptions)[0]  # pyright: ignore[reportUnknownMemberType]
    return error


def _is_validation_error(error: ValueError) -> bool:
    """Whether it is pydantic's. By name: importing pydantic would take as long as all of `farm --help`."""
    return type(error).__name__ == "ValidationError" and type(error).__module__.startswith("pydantic_core")


def _tell_interrupted(listed: Listed | None) -> None:
    """Say so, and how the command is gone on with. None while it was not known which command it is."""
    how = listed.interrupted if listed else ""
    sys.stderr.write(f"farm: interrupted{f'; {how}' if how else ''}\n")


def _told(error: str, code: int) -> int:
    sys.stderr.write(f"farm: {clean(error)}\n")
    return code


if __name__ == "__main__":
    main()
