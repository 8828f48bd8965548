"""What every export to EnvScaler's files gives: the entries of both files, and what their format cannot say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.errors import BundleError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.state.start_images import built


@dataclass
class ExportedBundle:
    """The entries of both files, and what their format cannot express."""

    environments: dict[str, Any] = field(default_factory=dict[str, Any])
    scenarios: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    lost: list[str] = field(default_factory=list[str])

    def add(
        self,
        environment: Environment,
        class_name: str,
        scenario: Scenario,
        config: dict[str, Any],
        checks: Sequence[dict[str, str]],
    ) -> None:
        """Add a scenario with what its object begins with, and its check functions."""
        self.scenarios.append(
            {
                "env_id": environment.id,
                "env_class_name": class_name,
                "task_id": f"{environment.id}-{scenario.id}",
                "init_config": config,
                "task": scenario.task,
                "checklist": [check["check_item"] for check in checks],
                "checklist_with_func": list(checks),
            }
        )


def tool_entry(name: str, tool: Tool) -> dict[str, Any]:
    """A tool as chat models are told of it, under the name of its method."""
    function = {"name": name, "description": tool.description, "parameters": tool.arguments}
    return {"type": "function", "function": function}


async def start_image(environment: Environment, setup: str, clock: str, guests: Guests) -> bytes:
    """The rows that a scenario begins with, as an image. Raises BundleError if they cannot be made."""
    image, finding = await built(environment, setup, clock, guests)
    if finding:
        raise BundleError(f"{environment.folder}: {finding}")
    return image[:]


def rules_of(policy: str) -> list[str]:
    """The rules of a policy: its items and paragraphs, without headings."""
    rules: list[str] = []
    for line in policy.splitlines():
        text = line.strip()
        if text.startswith(("- ", "* ")) or (text and not text.startswith("#") and not rules):
            rules.append(text.lstrip("-* "))
        elif not text:
            rules.append("")
        elif not text.startswith("#"):
            rules[-1] = f"{rules[-1]} {text}".strip()
    return [rule for rule in rules if rule]
