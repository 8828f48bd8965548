"""A prompt is a file: plain prose with named holes, `{{title}}`.

`<!-- system -->`, `<!-- user -->` and `<!-- assistant -->`, each alone on a line, begin a message. What stands before
the first of them is a note for people; a file without any is one message of the user.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, cast

from servers.errors import BundleError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from synth.llm.writer import WriterMessage

MARK = re.compile(r"^<!-- (system|user|assistant) -->$\n?", re.MULTILINE)
HOLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


class PromptError(BundleError):
    """A prompt file is not valid, or is filled wrongly."""


@dataclass(frozen=True)
class Prompt:
    """The messages of a prompt file, with their holes."""

    path: Path
    messages: tuple[WriterMessage, ...]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a prompt. Raises PromptError."""
        try:
            text = text_named(path)
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(f"{path}: cannot be read: {trouble(error)}") from None
        messages = _messages(text)
        empty = [message.role for message in messages if not message.content]
        if empty:
            raise PromptError(f"{path}: the message of the {empty[0]} is empty")
        return cls(path, messages)

    @property
    def holes(self) -> set[str]:
        """The names of the holes."""
        return {name for message in self.messages for name in HOLE.findall(message.content)}

    def fill(self, **values: str) -> tuple[WriterMessage, ...]:
        """Fill every hole. Raises PromptError for a hole without a value, or a value without a hole."""
        missing, unknown = sorted(self.holes - values.keys()), sorted(values.keys() - self.holes)
        if missing:
            raise PromptError(f"{self.path}: nothing for {{{{{missing[0]}}}}}")
        if unknown:
            raise PromptError(f"{self.path}: has no {{{{{unknown[0]}}}}}; it has: {', '.join(sorted(self.holes))}")
        # In one go: what a value says is never taken for a hole.
        return tuple(
            WriterMessage(role=message.role, content=HOLE.sub(lambda hole: values[hole[1]], message.content))
            for message in self.messages
        )


def _messages(text: str) -> tuple[WriterMessage, ...]:
    parts = MARK.split(text)
    if len(parts) == 1:
        return (WriterMessage(role="user", content=text.strip()),)
    roles = cast("list[Literal['system', 'user', 'assistant']]", parts[1::2])
    return tuple(WriterMessage(role=role, content=part.strip()) for role, part in zip(roles, parts[2::2], strict=True))
