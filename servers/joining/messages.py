"""The messages between a worker and the registry that it joins. The paths are those of the registry."""

from importlib.metadata import version
from typing import Annotated

from pydantic import Field

from servers.joining.proofs import NONCE
from servers.records import Name, Record

VERSION = version("envfarm")
CHALLENGE = "/v1/join/challenge"
JOIN = "/v1/join"
BUNDLE = "/v1/join/bundle"
BEAT = "/v1/join/beat"
LEAVE = "/v1/join/leave"
HERE = "/w/here"
"""Where a worker's control door proves that it is the worker that joins."""
BEAT_SECONDS = 1.0
"""Seconds between two heartbeats of a worker."""
NONCE_SECONDS = 60.0
"""Seconds for which a registry's nonce may be used, once."""
MOST_CLOCKS_DIFFER = 60.0
"""Seconds by which the clocks of a worker and of its registry may differ."""
LARGEST_MESSAGE = 1024 * 1024

WORKER_NAME = r"^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$"
WorkerName = Annotated[str, Field(pattern=WORKER_NAME)]
"""The name of a worker, as a host may be called."""
Nonce = Annotated[str, Field(pattern=rf"^{NONCE.pattern}$")]
HexDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Challenge(Record):
    """A worker's first words: prove that you know the join token."""

    nonce: Nonce
    version: str = Field(max_length=64)


class ChallengeAnswer(Record):
    """The registry's answer, which goes along with its proof."""

    nonce: str = Field(max_length=128)
    version: str = Field(max_length=64)


class JoinOrder(Record):
    """What a worker says of itself, once the registry has proved itself. `session` names both nonces."""

    session: str = Field(max_length=200)
    name: WorkerName
    identity: str = Field(pattern=r"^[0-9a-f]{32}$")
    url: str = Field(max_length=500)
    reached_at: str = Field(default="", max_length=500)
    version: str = Field(max_length=64)
    at: float = Field(allow_inf_nan=False)
    capacity: int = Field(ge=1, le=1_000_000)
    bundles: dict[Name, HexDigest]


class JoinAnswer(Record):
    """The worker is in the fleet, unless it lacks bundles of the registry, or has others of their names.

    Then it fetches them, by these digests, and joins again.
    """

    lacks: dict[Name, HexDigest] = {}


class BundleOrder(Record):
    """A worker asks for a bundle. The answer is the text of which `digest` is the digest, and nothing else."""

    session: str = Field(max_length=200)
    name: Name
    digest: HexDigest


class Beat(Record):
    """A heartbeat. Its number grows, so that none can be sent again by somebody else."""

    name: WorkerName
    number: int = Field(ge=0)


class BeatAnswer(Record):
    """`leave`: the worker is drained, and its last lease has ended."""

    leave: bool = False


class HereOrder(Record):
    """The registry asks an advertised address who is there."""

    nonce: Nonce


class HereAnswer(Record):
    """The proof, over the nonce, with the control token of the session."""

    proof: str = Field(max_length=64)


class ToldError(Record):
    """An error by the name of its class."""

    kind: str
    message: str


class ErrorAnswer(Record):
    """What a control door answers if an operation fails."""

    error: ToldError
