"""The configuration file of an MCP client: an entry is put into it, and one with a token stays its owner's alone."""

import json
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.private_files import FILE_MODE, write_private
from servers.files.trouble import trouble

GIT_SECONDS = 30.0


def refuse_tracked(path: Path) -> None:
    """See that git does not carry a file on that is to hold a token.

    Raises:
        RequestError: git tracks it, so .gitignore does not keep it out.
    """
    if _git(path, "ls-files", "--error-unmatch", path.name):
        raise RequestError(
            f"git tracks {path}, and the entry holds a token: `git rm --cached {path.name}` first, or leave --write out"
        )


def keep_out_of_git(path: Path) -> str:
    """Add a file to the .gitignore beside it where it is in a git work tree; what was done, in a few words."""
    if not any((folder / ".git").exists() for folder in (path.resolve().parent, *path.resolve().parents)):
        return "keep it out of version control"
    if _git(path, "check-ignore", "--quiet", path.name):
        return "git ignores it"
    ignored = path.with_name(".gitignore")
    try:
        before = ignored.read_text(encoding="utf-8") if ignored.exists() else ""
        if f"/{path.name}" not in before.splitlines():
            ignored.write_text(f"{before}{'' if before.endswith(chr(10)) or not before else chr(10)}/{path.name}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{ignored}: {path.name} cannot be added, and it holds a token: {trouble(error)}") from None
    return "it was added to .gitignore"


def merge(path: Path, name: str, entry: dict[str, Any], *, secret: bool) -> None:
    """Put an entry into a client's file, and leave everything else in it as it is. With a secret, its mode is 0600.

    Raises:
        RequestError: the file is not what it should be; it is left alone.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else "{}"
        content: Any = json.loads(text or "{}")
        servers = content.setdefault("mcpServers", {})
        servers[name] = entry
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except (ValueError, AttributeError, TypeError) as error:
        raise RequestError(f"{path}: is not a client's configuration, and was left alone: {trouble(error)}") from None
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


def _git(path: Path, *arguments: str) -> bool:
    """Whether a git command about a file says yes; no where there is no git."""
    git = shutil.which("git")
    if git is None:
        return False
    command = [git, "-C", str(path.resolve().parent), *arguments]
    return subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False).returncode == 0
