"""The kinds of checkpoints. A new kind is a file beside this one, and an entry in this list."""

from typing import Annotated, get_args

from pydantic import Field

from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.checkpoint import CheckpointKind
from servers.scenario.checkpoints.footprint import FootprintCheckpoint
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint

EveryKind = SqlCheckpoint | PythonCheckpoint | FootprintCheckpoint | AnswerCheckpoint | OfficialCheckpoint

Checkpoint = Annotated[EveryKind, Field(discriminator="kind")]
"""A question about the final state, with the expected answer."""

KINDS: tuple[type[CheckpointKind], ...] = tuple(sorted(get_args(EveryKind), key=lambda kind: kind.cost))
"""The kinds, in the order of a judgement."""
