"""The brief for a writer of scenarios. It has no code: a task is about what agents can see."""

from collections.abc import Sequence
from dataclasses import dataclass

from servers.bundle.description import Tool
from servers.bundle.environment import Environment

LONGEST_ROWS = 60_000
CUT = "\n-- … (more rows of this kind)"


@dataclass(frozen=True)
class Brief:
    """An environment in words."""

    environment: Environment

    def holes(self) -> dict[str, str]:
        """The holes that every prompt about the environment has."""
        described = self.environment.description
        return {
            "title": described.title,
            "about": described.description,
            "clock": described.clock,
            "policy": self.environment.policy.strip(),
            "schema": self.environment.schema.strip(),
            "rows": _shortened(self.environment.first_rows),
            "tools": "\n".join(map(_told, described.tools)),
        }


def _told(tool: Tool) -> str:
    """One tool on a line: its call, its effect, its result."""
    properties, needed = tool.properties, tool.required
    arguments = ", ".join(f"{name}{'' if name in needed else '?'}{_choices(properties[name])}" for name in properties)
    result = ", ".join(tool.result.get("properties", {}))
    kind = "command" if tool.writes else "query"
    return f"- {kind} {tool.name}({arguments}): {' '.join(tool.description.split())} Gives {result or 'nothing'}."


def _choices(schema: dict[str, object]) -> str:
    """The choices of an argument, if it has any."""
    values = schema.get("enum")
    return ": " + "|".join(map(str, values)) if isinstance(values, list) else ""  # pyright: ignore[reportUnknownArgumentType]


def _shortened(files: Sequence[str]) -> str:
    """The beginning of each file of rows."""
    most = LONGEST_ROWS // len(files)
    texts = (text.strip() for text in files)
    return "\n".join(text if len(text) <= most else text[:most].rpartition("\n")[0] + CUT for text in texts)
