"""Options for secrets. The list of processes shows command lines, so secrets come from the environment or a file."""

import re
import ssl
import sys
from pathlib import Path
from typing import Annotated

import typer

from servers.errors import RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.joining.proofs import SHORTEST_TOKEN
from servers.records import KEY, USER_KEY, checked_secret

PASSWORD = re.compile(r"//[^/?#]*:[^/?#]*@|[?&](password|token|key)=", re.IGNORECASE)
LONGEST_TOKEN = 4096
LONGEST_FILE = 4 * LONGEST_TOKEN
SHELL_PIPES = (Path("/dev/fd"), Path("/proc/self/fd"))
NO_KEY = ("", "none")
"""The key for an endpoint that needs none."""


def not_on_the_command_line(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse a secret on the command line: other users of the machine could read it."""
    if value not in (None, *NO_KEY) and is_on_the_command_line(context, parameter.name or ""):
        file = f" or give {parameter.opts[0]}-file FILE" if parameter.name == "token" else ""
        raise RequestError(
            f"{parameter.opts[0]} on the command line shows in the list of processes: set {_variable(parameter)}{file}"
        )
    return None if value is None else _sendable(_variable(parameter), value)


def without_password(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse a URL with a secret in it on the command line."""
    if value is not None and PASSWORD.search(value) and is_on_the_command_line(context, parameter.name or ""):
        raise RequestError(
            f"a password in {parameter.opts[0]} shows in the list of processes: set {_variable(parameter)} to the URL"
        )
    return value


def token_from(token: str | None, file: Path | None) -> str | None:
    """The control token, from the environment or a file. `-` is standard input.

    Raises:
        RequestError: the file cannot be read, or has no token in it.
    """
    if file is None:
        return token
    try:
        text = sys.stdin.readline(LONGEST_TOKEN + 1) if str(file) == "-" else _begun(file)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"--token-file {file}: cannot be read: {trouble(error)}") from None
    if not text.strip() or "\n" in text.strip() or len(text) > LONGEST_TOKEN:
        raise RequestError(f"--token-file {file}: is not one line with a token")
    return _sendable(f"--token-file {file}: the token", text.strip())


def join_token_from(file: Path | None) -> str | None:
    """The join token of a file, which workers and their registry share.

    Raises:
        RequestError: the file cannot be read, or has no token in it that is long enough.
    """
    token = token_from(None, file)
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise RequestError(f"{file}: a join token has {SHORTEST_TOKEN} characters at least")
    return token


def readable(authority: Path | None) -> Path | None:
    """A file of certificates. Raises RequestError if it holds none."""
    if authority is not None:
        try:
            ssl.create_default_context(cadata=text_named(authority))
        except (OSError, UnicodeDecodeError, ssl.SSLError) as error:
            raise RequestError(
                f"--authority {authority}: no certificates can be read there: {trouble(error)}"
            ) from None
    return authority


def _sendable(name: str, secret: str) -> str:
    try:
        return checked_secret(name, secret)
    except ValueError as error:
        raise RequestError(str(error)) from None


def _begun(file: Path) -> str:
    """The beginning of a file with a token. A pipe is read that the shell has opened: `--token-file <(…)`."""
    if file.parent not in SHELL_PIPES:
        return text_named(file, largest=LONGEST_FILE)
    with file.open("r", encoding="utf-8") as opened:
        return opened.read(LONGEST_TOKEN + 1)


def is_on_the_command_line(context: typer.Context, name: str) -> bool:
    """True if an option was given, and not by its variable."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _variable(parameter: typer.CallbackParam) -> str:
    return str(parameter.envvar)


Token = Annotated[
    str | None,
    typer.Option(
        envvar="FARM_TOKEN",
        callback=not_on_the_command_line,
        help="The control token, if the farm was given one; only by the variable.",
    ),
]
TokenFile = Annotated[Path | None, typer.Option(help="A file with the control token; `-` is standard input.")]
UserApiKey = Annotated[
    str,
    typer.Option(
        envvar=USER_KEY,
        callback=not_on_the_command_line,
        help="The key for the simulated user's model; only by the variable.",
    ),
]
ApiKey = Annotated[
    str,
    typer.Option(envvar=KEY, callback=not_on_the_command_line, help="The endpoint's key; only by the variable."),
]
