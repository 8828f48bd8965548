"""The command `farm`: it only puts the folders' commands together, and turns their errors into exit codes.

0 done, 1 failed, 2 misused.
"""

import importlib
import sys

import typer
from pydantic import ValidationError
from typer.models import TyperInfo

from servers.errors import FarmError, RequestError
from servers.logs import to_stderr

COMMANDS: dict[str, str | tuple[str, ...]] = {
    "bench": "bench",
    "demo": "evals",
    "play": "evals",
    "eval": "evals",
    "report": "evals",
    "show": "evals",
    "judge": "evals",
    "up": "registry",
    "launch": "registry",
    "rl": "rl_training",
    "score": "registry",
    "close": "registry",
    "connect": "registry",
    "prove": "synth.proving",
    "environments": "servers",
    "scenarios": "servers",
    "check": "servers",
    "derive": "servers",
    "doctor": "servers",
    "serve": "servers",
    "synth": ("synth", "synth.scenarios"),
    "certify": "synth.scenarios",
    "worker": "servers",
    "import": "synth.envscaler",
    "export": ("synth.envscaler", "evals"),
    "audit": "synth.envscaler",
}
"""Which folder has a command, or which ones have parts of it. Only those are loaded: loading what others need takes
longer than most commands."""


def command_line(wanted: str | None = None) -> typer.Typer:
    """The command line, with one command, or with all of them."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Environments for LLM agents: MCP servers with SQLite state, launched per scenario and judged.",
    )
    app.callback()(lambda: None)  # one command alone is still called by its name
    named = [COMMANDS[wanted]] if wanted in COMMANDS else COMMANDS.values()
    folders = sorted({folder for one in named for folder in ([one] if isinstance(one, str) else one)})
    for folder in folders:
        part: typer.Typer = importlib.import_module(f"{folder}.commands").app
        app.registered_commands += part.registered_commands
        for group in part.registered_groups:
            _add(app, group)
    return app


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
        command_line(sys.argv[1] if len(sys.argv) > 1 else None)()
    except (RequestError, ValidationError) as error:
        sys.exit(_told(error, 2))
    except FarmError as error:
        sys.exit(_told(error, 1))
    except KeyboardInterrupt:
        sys.exit(130)


def _told(error: Exception, code: int) -> int:
    sys.stderr.write(f"farm: {error}\n")
    return code


if __name__ == "__main__":
    main()
