"""The files that the pages load: styles, scripts and the icon. Each is read once, and its address holds its digest."""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
PARTS = Path(__file__).parent / "report_parts"
"""The scripts of a report. A page of a farm and a report that stands alone have the same."""
CLEAN = "clean.js"
"""How scripts show texts of strangers."""
SHARED_PARTS = (CLEAN, "drawing.js", "sections.js", "rollout.js", "main.js")
REPORT = "report.js"
API = "api.js"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
STRICT = '"use strict";\n'
A_YEAR = 31_536_000


class Asset(NamedTuple):
    """A file with its media type and digest."""

    content: bytes
    media_type: str
    digest: str


@cache
def assets() -> dict[str, Asset]:
    """All files, by name."""
    found: dict[str, Asset] = {}
    for path in sorted(STATIC.iterdir()):
        if path.suffix in TYPES:
            found[path.name] = _asset(path.read_bytes(), TYPES[path.suffix])
    clean = (PARTS / CLEAN).read_text(encoding="utf-8")
    api = found[API].content.decode().removeprefix(STRICT)
    found[API] = _asset(f"{STRICT}{clean}{api}".encode(), TYPES[".js"])
    served = (PARTS / "served.js").read_text(encoding="utf-8")
    found[REPORT] = _asset(f"{report_parts()}\n{served}".encode(), TYPES[".js"])
    return found


def report_parts() -> str:
    """The scripts that draw a report, wherever its data come from."""
    return "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SHARED_PARTS)


def _asset(content: bytes, media_type: str) -> Asset:
    return Asset(content, media_type, hashlib.sha256(content).hexdigest()[:12])


def asset_text(name: str) -> str:
    """A file as text, for a page that stands alone."""
    return assets()[name].content.decode()


def asset_url(name: str) -> str:
    """The address of a file. It changes with the content, so browsers may keep the file."""
    return f"/static/{name}?d={assets()[name].digest}"


async def serve_asset(request: Request) -> Response:
    """One file. Needs no cookie: nothing in it is secret."""
    found = assets().get(request.path_params["name"])
    if found is None:
        return Response("there is no such file", status_code=404, media_type="text/plain")
    fresh = request.query_params.get("d") == found.digest
    headers = {"Cache-Control": f"public, max-age={A_YEAR}, immutable" if fresh else "no-cache"}
    return Response(found.content, media_type=found.media_type, headers=headers)
