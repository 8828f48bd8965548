"""The standard `secrets`, drawn from the call: what an imported `import secrets` is given. Nothing here is secret."""

import base64
import random
from random import choice

from servers.imported.moment import draw

__all__ = ["choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe"]

DEFAULT_BYTES = 32


def token_bytes(nbytes: int | None = None) -> bytes:
    wanted = DEFAULT_BYTES if nbytes is None else nbytes
    drawn = b""
    while len(drawn) < wanted:
        drawn += draw(64)
    return drawn[:wanted]


def token_hex(nbytes: int | None = None) -> str:
    return token_bytes(nbytes).hex()


def token_urlsafe(nbytes: int | None = None) -> str:
    return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode()


def randbelow(exclusive_upper_bound: int) -> int:
    return random.randrange(exclusive_upper_bound)  # noqa: S311 - it must repeat


def randbits(k: int) -> int:
    return random.getrandbits(k)
