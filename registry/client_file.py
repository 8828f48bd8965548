"""The configuration file of an MCP client: adds an entry, and keeps a file with a token private."""

import json
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any, cast

from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from servers.files.private_files import FILE_MODE, write_private
from servers.files.trouble import trouble
from servers.limits.json_size import key_twice_in

GIT_SECONDS = 30.0
SERVERS = "mcpServers"


def refuse_tracked(path: Path) -> None:
    """Refuse a file that git tracks, because it is to hold a token.

    Raises:
        RequestError: git tracks the file, so .gitignore has no effect on it.
    """
    if _git(path, "ls-files", "--error-unmatch", path.name):
        raise RequestError(
            f"git tracks {path}, and the entry holds a token: `git rm --cached {path.name}` first, or leave --write out"
        )


def keep_out_of_git(path: Path) -> str:
    """Add a file to the .gitignore beside it, in a git work tree. Returns a short description of what was done."""
    if not any((folder / ".git").exists() for folder in (path.resolve().parent, *path.resolve().parents)):
        return "keep it out of version control"
    if _git(path, "check-ignore", "--quiet", path.name):
        return "git ignores it"
    ignored = path.with_name(".gitignore")
    try:
        before = text_named(ignored) if ignored.exists() else ""
        if f"/{path.name}" not in before.splitlines():
            ignored.write_text(f"{before}{'' if before.endswith(chr(10)) or not before else chr(10)}/{path.name}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{ignored}: {path.name} cannot be added, and it holds a token: {trouble(error)}") from None
    return "it was added to .gitignore"


def followed(path: Path) -> Path:
    """The file that a link leads to, which is changed in its place. Other paths stay as they are.

    Raises:
        RequestError: the link leads back to itself.
    """
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise RequestError(f"{path}: is a link that leads back to itself") from None


def configuration(path: Path) -> dict[str, Any]:
    """What a client's configuration file holds. Empty if there is no file.

    Raises:
        RequestError: the file cannot be read, or is not valid.
    """
    try:
        text = text_named(path) if path.exists() else ""
        content: Any = json.loads(text or "{}")
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except (ValueError, RecursionError):
        raise _no_configuration(path, "it is not JSON") from None
    try:
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        reason = "it holds NaN, a number that is too large, or half a character, which could not be written again"
        raise _no_configuration(path, reason) from None
    if not isinstance(content, dict):
        raise _no_configuration(path, "it is not a JSON object")
    twice = key_twice_in(text)
    if twice is not None:
        raise _no_configuration(path, f"the key {twice!r} stands in it twice")
    found = cast("dict[str, Any]", content)
    if not isinstance(found.get(SERVERS, {}), dict):
        raise _no_configuration(path, f"{SERVERS} is not an object")
    return found


def _no_configuration(path: Path, reason: str) -> RequestError:
    return RequestError(f"{path}: is not a client's configuration, and was left alone: {reason}; mend or move the file")


def merge(path: Path, name: str, entry: dict[str, Any], *, secret: bool) -> bool:
    """Add an entry to a client's configuration, and keep everything else in it. A file with a secret gets mode 0600.

    Returns whether it took the place of another entry of that name.

    Raises:
        RequestError: the file is not valid. It is left unchanged.
    """
    content = configuration(path)
    servers = content.setdefault(SERVERS, {})
    is_instead = name in servers and servers[name] != entry
    servers[name] = entry
    new = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        if secret:
            write_private(path, new.encode(), mode=FILE_MODE if mode is None else mode & FILE_MODE)
        else:
            write_whole(path, new, mode=mode)
    except OSError as error:
        raise RequestError(f"{path}: cannot be written: {trouble(error)}") from None
    return is_instead


def _git(path: Path, *arguments: str) -> bool:
    """True if a git command about a file succeeds. False without git."""
    git = shutil.which("git")
    if git is None:
        return False
    command = [git, "-C", str(path.resolve().parent), *arguments]
    return subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False).returncode == 0
