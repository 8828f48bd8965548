"""Evaluates calls that are texts, on objects that are globals of this module."""

import importlib
import inspect
import json
import re
from typing import Any

from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING


def execute_multi_turn_func_call(
    func_call_list: list[str],
    initial_config: dict[str, Any],
    involved_classes: list[str],
    model_name: str,
    test_entry_id: str,
    long_context: bool = False,
) -> tuple[list[str], dict[str, Any]]:
    """The text of each result, and the objects by class."""
    objects: dict[str, Any] = {}
    functions: dict[str, Any] = {}
    for name in involved_classes:
        place = re.sub(r"[-./:]", "_", f"{model_name}_{test_entry_id}_{name}_instance")
        if place not in globals():
            made = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name)()
            made._load_scenario(initial_config.get(name, {}), long_context=long_context)
            globals()[place] = made
        objects[name] = globals()[place]
        functions |= dict(inspect.getmembers(objects[name], inspect.ismethod))
    return [told(text, functions) for text in func_call_list], objects


def told(text: str, functions: dict[str, Any]) -> str:
    try:
        result = eval(text, {**functions})  # noqa: S307 - that is what is stood in for
    except Exception as error:
        return f"Error during execution: {error}"
    return json.dumps(result) if isinstance(result, dict) else str(result)
