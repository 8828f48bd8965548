"""The page at `/v1/docs`: the API, readable and to be tried, without any other file and without internet.

The page draws the farm's own OpenAPI document. Its one script and one style stand in it, and its policy allows only
these two, by their digests. It is open, as the document is. To try a request, the reader gives the control token, which
stays in the page.
"""

import base64
import hashlib
from functools import cache

from fastapi.responses import Response

from registry.web.assets import asset_text

DOCS = "/v1/docs"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API – Envfarm</title>
<style>{style}</style>
</head>
<body>
<header class="wrap top"><a class="brand" href="/">Envfarm</a></header>
<main class="wrap" id="page"><h1>The API of this farm</h1>
<noscript>This page needs JavaScript. <a href="/v1/openapi.json">/v1/openapi.json</a> holds the same.</noscript>
</main>
<script>{script}</script>
</body>
</html>
"""


@cache
def _drawn() -> tuple[bytes, str]:
    """The page, and its policy."""
    style = "".join(asset_text(name) for name in ("look.css", "parts.css", "pages.css", "api.css"))
    script = asset_text("api.js")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return PAGE.replace("{style}", style).replace("{script}", script).encode(), policy


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


async def docs_page() -> Response:
    """The page."""
    page, policy = _drawn()
    headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)
