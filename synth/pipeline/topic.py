"""What an environment is about: the first artefact of each."""

from pydantic import Field

from servers.records import Record


class Topic(Record):
    """Given by hand as a title alone, or mined from a task. Scores go from 1 to 10; None where nobody gave one."""

    title: str = Field(min_length=1, max_length=200)
    introduction: str = ""
    task: str = ""
    usefulness: int | None = Field(default=None, ge=1, le=10)
    modelability: int | None = Field(default=None, ge=1, le=10)
