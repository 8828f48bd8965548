"""Wrong agents from a user's Python file. They join the built-in ones.

The file runs as the user's own code in the certifier's process, as their tests do.
"""

import importlib.util
import inspect
from pathlib import Path

from servers.errors import RequestError
from servers.files.named_file import bytes_named
from servers.files.trouble import trouble
from servers.gate.parser import LARGEST_SOURCE
from synth.certify.agents.wrong_agents import WrongAgent


def wrong_agents_in(path: Path) -> tuple[WrongAgent, ...]:
    """The public functions of a file.

    Raises:
        RequestError: it cannot be read, does not run, or defines none.
    """
    spec = importlib.util.spec_from_file_location(f"wrong_agents_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise RequestError(f"--against {path}: is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        bytes_named(path, largest=LARGEST_SOURCE)  # the loader would wait for a pipe
    except OSError as error:
        raise RequestError(f"--against {path}: cannot be read: {trouble(error)}") from None
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's own code may raise anything
        raise RequestError(f"--against {path}: does not run: {type(error).__name__}: {error}") from None
    found = [one for name, one in vars(module).items() if not name.startswith("_") and inspect.isfunction(one)]
    own = tuple(one for one in found if one.__module__ == module.__name__)
    if not own:
        raise RequestError(f"--against {path}: defines no function; a wrong agent is a function of a script")
    return own
