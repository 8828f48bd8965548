"""The command `farm`: it only puts the folders' commands together, and turns their errors into exit codes.

0 done, 1 failed, 2 misused.
"""

import importlib
import sys

import typer
from pydantic import ValidationError

from servers.errors import FarmError, RequestError
from servers.logs import to_stderr

COMMANDS = {
    "bench": "bench",
    "demo": "evals",
    "play": "evals",
    "up": "registry",
    "launch": "registry",
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
    "synth": "synth",
    "certify": "synth",
    "worker": "servers",
}
"""Which folder has a command. Only that one is loaded: loading what others need takes longer than most commands."""


def command_line(wanted: str | None = None) -> typer.Typer:
    """The command line, with one command, or with all of them."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Environments for LLM agents: MCP servers with SQLite state, launched per scenario and judged.",
    )
    app.callback()(lambda: None)  # one command alone is still called by its name
    folders = [COMMANDS[wanted]] if wanted in COMMANDS else sorted(set(COMMANDS.values()))
    for folder in folders:
        part: typer.Typer = importlib.import_module(f"{folder}.commands").app
        app.registered_commands += part.registered_commands
        app.registered_groups += part.registered_groups
    return app


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
