"""Proofs that somebody knows a secret, without showing it: HMAC-SHA-256 over what is said.

A registry and its workers share a join token. Each side proves that it knows the token before the other believes
anything. Both then compute the control token of this worker, which crosses no wire while a worker joins.
"""

import hmac
import re
import secrets
from dataclasses import dataclass, field

NONCE = re.compile(r"[0-9a-f]{32}")
PROOF_HEADER = b"farm-proof"
SHORTEST_TOKEN = 32
"""Characters of a join token: a stranger who is shown a proof must not be able to guess what it was made with."""


def fresh_nonce() -> str:
    """A number used once."""
    return secrets.token_hex(16)


def proof(key: bytes, *said: str | bytes) -> str:
    """The proof of knowing a key, over some texts. Each is bound with its length and place."""
    parts = [part.encode() if isinstance(part, str) else part for part in said]
    framed = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return hmac.digest(key, framed, "sha256").hex()


def proves(given: str, key: bytes, *said: str | bytes) -> bool:
    """True if a proof is one of this key, over these texts."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), proof(key, *said).encode())


def request_proof(key: bytes, path: str, body: bytes) -> str:
    """What goes along with a request, in the header `Farm-Proof`."""
    return proof(key, "request", path, body)


def answer_proof(key: bytes, request: str, status: int, body: bytes) -> str:
    """What goes along with the answer to a request that was proved. It holds for that request alone."""
    return proof(key, "answer", request, str(status), body)


def control_token(join_token: bytes, session: str, name: str, identity: str) -> str:
    """The token of a worker's control door, for one session: both sides compute it from what each has said."""
    return proof(join_token, "control", session, name, identity)


@dataclass
class ControlTokens:
    """The tokens that open a control door: of the session, and of the one that is being agreed upon."""

    current: str = ""
    coming: str = field(default="")

    def open_to(self, given: bytes) -> bool:
        return any(token and hmac.compare_digest(given, token.encode()) for token in (self.current, self.coming))

    def answer(self, nonce: str) -> str:
        """The proof that this door is the one of the worker that joins."""
        return proof((self.coming or self.current).encode(), "here", nonce)

    def agree(self) -> None:
        """The session has begun: what opened the door before opens it no longer."""
        self.current, self.coming = self.coming, ""
