"""The options by which commands take an agent that is a program, and say how agents are to answer."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from servers.errors import RequestError
from servers.records import AnswerFormat

FOLDERS_OF_TOKENS = (Path("~/.envfarm").expanduser(), Path(tempfile.gettempdir()))
"""Where farms keep their control tokens: the usual state folder, and temporary farms. No agent may read them."""

AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="Play with this program: it gets the task and its instance as variables FARM_…, and says the answer last.",
    ),
]
CommandWalls = Annotated[
    bool,
    typer.Option("--agent-walls", help="Let the program read no more than it needs, and write into its own folder."),
]
CommandReads = Annotated[
    list[Path] | None,
    typer.Option("--agent-read", help="With --agent-walls: a folder to read, instead of this one. May be repeated."),
]

Answers = Annotated[
    AnswerFormat | None,
    typer.Option("--answers", help="In free text, or as JSON with a key for each value that is asked for."),
]


def command_agent(command: str | None, walls: bool, read: list[Path] | None) -> dict[str, Any] | None:
    """The table `[agent]` of a program that was given on the command line, if one was.

    Raises:
        RequestError: the options do not go together.
    """
    if command is None and (walls or read):
        raise RequestError("--agent-walls and --agent-read are for the program of --agent COMMAND")
    if read and not walls:
        raise RequestError("--agent-read names what a program behind walls may read: add --agent-walls")
    if command is None:
        return None
    if not command.strip():
        raise RequestError("--agent: the command is empty")
    told: dict[str, Any] = {"kind": "command", "command": command, "walls": walls}
    return {**told, "read": [str(folder) for folder in read]} if read else told
