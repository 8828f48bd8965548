"""The command `farm`: it only puts the folders' commands together, and turns their errors into exit codes.

0 done, 1 failed, 2 misused.
"""

import importlib
import os
import signal
import sys
from importlib import metadata
from typing import Annotated

INTERRUPTED = 130


def _end_quietly(*_: object) -> None:
    os._exit(INTERRUPTED)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end_quietly)  # before the imports below: they take most of the first second

import typer
from pydantic import ValidationError
from typer.models import CommandInfo, TyperInfo

from servers.errors import FarmError, RequestError
from servers.logs import to_stderr
from servers.terminal import clean
from servers.validation import problems

COMMANDS: dict[str, str | tuple[str, ...]] = {
    "demo": "evals",
    "environments": "servers",
    "scenarios": "servers",
    "play": "evals",
    "connect": "registry",
    "serve": "servers",
    "up": "registry",
    "launch": "registry",
    "instances": "registry",
    "score": "registry",
    "close": "registry",
    "doctor": "servers",
    "worker": "servers",
    "new": "servers",
    "check": "servers",
    "derive": "servers",
    "prove": "synth.proving",
    "certify": "synth.scenarios",
    "hack": "synth.scenarios",
    "synth": ("synth", "synth.scenarios"),
    "import": "synth.envscaler",
    "audit": "synth.envscaler",
    "eval": "evals",
    "report": "evals",
    "show": "evals",
    "judge": "evals",
    "export": ("synth.envscaler", "evals"),
    "rl": "rl_training",
    "bench": "bench",
}
"""Which folder has a command, or which ones have parts of it, in the order of `farm --help`. Only those are loaded:
loading what others need takes longer than most commands."""

HEADINGS = {"demo": "Look and play", "up": "Operate", "new": "Write and prove", "eval": "Evaluate and train"}
"""What `farm --help` writes above a command and those that come after it."""


def command_line(wanted: str | None = None) -> typer.Typer:
    """The command line, with one command, or with all of them."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Environments for LLM agents: MCP servers with SQLite state, launched per scenario and judged.",
    )
    app.callback()(_common)  # one command alone is still called by its name
    named = [COMMANDS[wanted]] if wanted in COMMANDS else COMMANDS.values()
    folders = sorted({folder for one in named for folder in ([one] if isinstance(one, str) else one)})
    for folder in folders:
        part: typer.Typer = importlib.import_module(f"{folder}.commands").app
        app.registered_commands += part.registered_commands
        for group in part.registered_groups:
            _add(app, group)
    app.registered_commands.sort(key=_place)
    app.registered_groups.sort(key=_place)
    for info in (*app.registered_commands, *app.registered_groups):
        info.rich_help_panel = _heading(_place(info))
    return app


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"envfarm {metadata.version('envfarm')}\n")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """What every command takes."""


def _place(info: CommandInfo | TyperInfo) -> int:
    """Where a command stands in `COMMANDS`."""
    return list(COMMANDS).index(info.name or getattr(info.callback, "__name__", ""))


def _heading(place: int) -> str:
    """The last heading at or above a place."""
    return next(HEADINGS[name] for name in reversed(list(COMMANDS)[: place + 1]) if name in HEADINGS)


def _add(app: typer.Typer, group: TyperInfo) -> None:
    """Add a command that has commands of its own; folders may share one."""
    for number, there in enumerate(app.registered_groups):
        if there.name == group.name and there.typer_instance and group.typer_instance:
            both = typer.Typer(no_args_is_help=True, help=there.typer_instance.info.help)
            both.registered_callback = there.typer_instance.registered_callback
            for part in (there.typer_instance, group.typer_instance):
                both.registered_commands += part.registered_commands
            app.registered_groups[number] = TyperInfo(both, name=there.name)
            return
    app.registered_groups.append(group)


def main() -> None:
    """Run the command line."""
    to_stderr("error", process="farm")
    try:
        commands = command_line(sys.argv[1] if len(sys.argv) > 1 else None)
        if signal.getsignal(signal.SIGINT) is _end_quietly:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        commands()
    except RequestError as error:
        sys.exit(_told(str(error), 2))
    except ValidationError as error:
        sys.exit(_told("; ".join(problems(error)), 2))
    except FarmError as error:
        sys.exit(_told(str(error), 1))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _told(error: str, code: int) -> int:
    sys.stderr.write(f"farm: {clean(error)}\n")
    return code


if __name__ == "__main__":
    main()
