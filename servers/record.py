"""A value that crosses a disk or a wire: it does not change, and refuses keys that it does not know."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """The base of such values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A name of ours: environments, scenarios, checkpoints, tools, tables."""

Clock = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")]
"""A time of an instance, `YYYY-MM-DD HH:MM:SS`."""
