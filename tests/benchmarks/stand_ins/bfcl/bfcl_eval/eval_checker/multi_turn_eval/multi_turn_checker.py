"""Compares the calls of a model with the truth, turn by turn: the objects after it, and the results."""

from typing import Any

from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call


def multi_turn_checker(
    decoded: list[list[list[str]]], truth: list[list[str]], entry: dict[str, Any], category: str, model: str
) -> dict[str, Any]:
    """Whether the calls are valid, and why not. `decoded` has the steps of each turn."""
    seen: list[str] = []
    for turn, (steps, wanted) in enumerate(zip(decoded, truth, strict=True)):
        long = "long_context" in category
        place = (entry["initial_config"], entry["involved_classes"])
        results, mine = execute_multi_turn_func_call(
            [call for step in steps for call in step], *place, model, entry["id"], long
        )
        expected, theirs = execute_multi_turn_func_call(wanted, *place, f"{model}_truth", entry["id"], long)
        seen += results
        details = {"execution_result": seen}
        if wanted and not results:
            return wrong("empty_turn", f"nothing was called in turn {turn}", details)
        for name, made in mine.items():
            if public(made) != public(theirs[name]):
                return wrong("state", f"{name} is another one after turn {turn}", details)
        missing = [one for one in expected if one not in seen]
        if missing:
            return wrong("response", f"never got {missing[0]}", details)
    return {"valid": True}


def wrong(kind: str, why: str, details: dict[str, Any]) -> dict[str, Any]:
    return {"valid": False, "error_type": kind, "error_message": why, "details": details}


def public(made: Any) -> Any:
    """What can be compared of an object: its public attributes, and the coats of racks by owner."""
    found = {key: value for key, value in vars(made).items() if not key.startswith("_")}
    racks = found.pop("racks", {})
    at = found.pop("at", None)
    return {
        **found,
        "racks": {name: [coat.owner for coat in rack.coats] for name, rack in racks.items()},
        "at": at and at.name,
    }
