"""Compares the end of a task, and the way there."""

from typing import Any


def end_errors(reached: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[str]:
    """What is another one at the end."""
    found = {name: values for one in reached for name, values in one.items()}
    return [
        f"{name}.{key} is {found.get(name, {}).get(key)}, not {value}"
        for one in wanted
        for name, values in one.items()
        for key, value in values.items()
        if found.get(name, {}).get(key) != value
    ]


def process_of(calls: list[str], milestones: list[Any]) -> float:
    """The part of the milestones that was reached in their order, of the list that fits best."""
    lists = milestones if isinstance(milestones[0], list) else [milestones]
    return max(reached(calls, one) / len(one) for one in lists)


def reached(calls: list[str], milestones: list[str]) -> int:
    place = 0
    for call in calls:
        if place < len(milestones) and call == milestones[place]:
            place += 1
    return place
