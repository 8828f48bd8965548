"""What a row of the training data asks for: an environment, a scenario of it, and the seed of its ids."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from registry.messages import LARGEST_NUMBER
from rl_training.errors import RowError
from servers.records import Name, Record
from servers.validation import problems


class Task(Record):
    """Where an episode begins. All episodes of a group begin at the same."""

    environment: Name
    scenario: Name
    seed: int = Field(default=0, ge=0, le=LARGEST_NUMBER)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Task":
        """The task that stands in `extra_info` of a row.

        Raises:
            RowError: there is none.
        """
        extra: dict[str, Any] = row.get("extra_info") or {}
        wanted = {key: extra[key] for key in cls.model_fields if extra.get(key) is not None}
        try:
            return cls.model_validate(wanted)
        except ValidationError as error:
            said = "; ".join(problems(error))
            raise RowError(f"extra_info of a row names no task ({said}); `farm rl prepare` writes rows") from None
