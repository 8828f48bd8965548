"""Wrong agents of a user's own, from a Python file: its functions join the company.

The file is the user's own code and runs in the certifier's process, as the user's own tests do: give it none that you
would not run yourself.
"""

import importlib.util
import inspect
from pathlib import Path

from servers.errors import RequestError
from synth.certify.agents.wrong_agents import WrongAgent


def wrong_agents_in(path: Path) -> tuple[WrongAgent, ...]:
    """The functions that a file defines, but for those whose names begin with an underscore.

    Raises:
        RequestError: it cannot be read, does not run, or defines none.
    """
    spec = importlib.util.spec_from_file_location(f"wrong_agents_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise RequestError(f"--against {path}: is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's own code may raise anything
        raise RequestError(f"--against {path}: does not run: {type(error).__name__}: {error}") from None
    found = [one for name, one in vars(module).items() if not name.startswith("_") and inspect.isfunction(one)]
    own = tuple(one for one in found if one.__module__ == module.__name__)
    if not own:
        raise RequestError(f"--against {path}: defines no function; a wrong agent is a function of a script")
    return own
