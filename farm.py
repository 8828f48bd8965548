"""The command `farm`: it only puts the folders' commands together, and turns their errors into exit codes.

0 done, 1 failed, 2 misused.
"""

import sys

import typer
from pydantic import ValidationError

import evals.commands
import registry.commands
import servers.commands
from servers.errors import BundleError, FarmError, RequestError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Environments for LLM agents: MCP servers with SQLite state, launched per scenario and judged.",
)
for part in (evals.commands.app, registry.commands.app, servers.commands.app):
    app.registered_commands += part.registered_commands


def main() -> None:
    """Run the command line."""
    try:
        app()
    except (RequestError, ValidationError) as error:
        sys.exit(_told(error, 2))
    except (BundleError, FarmError) as error:
        sys.exit(_told(error, 1))
    except KeyboardInterrupt:
        sys.exit(130)


def _told(error: Exception, code: int) -> int:
    sys.stderr.write(f"farm: {error}\n")
    return code


if __name__ == "__main__":
    main()
