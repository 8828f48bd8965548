"""Who may see the pages: one-time links, the cookie of a session, and the proof that a form is one of ours.

All are signed with keys that are derived from the control token, so a session outlives a restart of the farm, and ends
when the farm gets another token. A cookie opens the pages only. The API wants the token itself.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LINK_SECONDS = 120
"""Seconds for which a link of `farm open` is valid. It works once."""
SESSION_SECONDS = 12 * 3600
"""Seconds until a browser has to be let in again."""
MOST_USED = 10_000
"""Links and ended sessions that are remembered. Beyond, the oldest are forgotten; they have expired by then."""
CODE = "code"


@dataclass(frozen=True)
class WebSession:
    """A browser that was let in. Its forms carry `csrf`."""

    id: str
    expires: int
    csrf: str


def one_time_link(url: str, token: str, *, clock: Callable[[], float] = time.time) -> str:
    """A link that lets one browser in, once, for `LINK_SECONDS`. The token itself is not in it."""
    made = f"{int(clock())}.{secrets.token_urlsafe(12)}"
    return f"{url.rstrip('/')}/login?{CODE}={made}.{_signed(_key(token, 'link'), made)}"


class Sessions:
    """The sessions of one farm. Nothing of them is stored but which links were used, and which sessions ended."""

    def __init__(self, token: str, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._link_key = _key(token, "link")
        self._session_key = _key(token, "session")
        self._began = int(clock())
        self._over: dict[str, None] = {}
        self.cookie = f"farm_{hashlib.sha256(self._session_key).hexdigest()[:10]}"

    def opened(self, code: str) -> str | None:
        """The cookie's value for the code of a link. None if it is not ours, too old, or was used."""
        made, _, signature = code.rpartition(".")
        if not _same(signature, _signed(self._link_key, made)) or made in self._over:
            return None
        at = int(made.partition(".")[0])
        if not max(self._began, int(self._clock()) - LINK_SECONDS) <= at:
            return None  # what was used before a restart is not remembered, so links from before it are refused
        self._remember(made)
        value = f"{secrets.token_urlsafe(12)}.{int(self._clock()) + SESSION_SECONDS}"
        return f"{value}.{_signed(self._session_key, value)}"

    def session(self, cookies: Mapping[str, str]) -> WebSession | None:
        """The session of a request's cookies, if it has a valid one."""
        value, _, signature = cookies.get(self.cookie, "").rpartition(".")
        if not value or not _same(signature, _signed(self._session_key, value)):
            return None
        name, _, until = value.rpartition(".")
        if name in self._over or int(until) <= self._clock():
            return None
        return WebSession(name, int(until), _signed(self._session_key, f"csrf.{name}"))

    def end(self, session: WebSession) -> None:
        """End a session before its time."""
        self._remember(session.id)

    def _remember(self, name: str) -> None:
        self._over[name] = None
        while len(self._over) > MOST_USED:
            del self._over[next(iter(self._over))]


def is_own_form(session: WebSession, given: str) -> bool:
    """True if a form carries the proof of this session."""
    return _same(given, session.csrf)


def _key(token: str, use: str) -> bytes:
    return hmac.digest(token.encode(), f"envfarm pages: {use}".encode(), "sha256")


def _signed(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode("utf-8", "replace"), "sha256").hex()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
