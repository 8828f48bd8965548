"""Makes and finds the objects of a task, which are globals of this module."""

import ast
import importlib
from typing import Any

SCENES = "model_inference.multi_turn.scenarios"
CLASS_FILE_PATH_MAPPING_EN = {"Beds": f"{SCENES}en.phone_platform.beds", "Tank": f"{SCENES}en.tank"}
CLASS_FILE_PATH_MAPPING_ZH = {"Beds": f"{SCENES}zh.beds"}


def objects_of(model: str, task: str, classes: list[str], config: dict[str, Any], language: str) -> list[Any]:
    """The objects of a task. They are made at its first call."""
    files = CLASS_FILE_PATH_MAPPING_ZH if language == "zh" else CLASS_FILE_PATH_MAPPING_EN
    found: list[Any] = []
    for name in classes:
        place = f"{model}_{task}_{name.lower()}_instance"
        if place not in globals():
            made = getattr(importlib.import_module(files[name]), name)()
            made._load_scenario(config.get(name, {}))
            globals()[place] = made
        found.append(globals()[place])
    return found


def called(text: str, objects: list[Any]) -> list[Any]:
    """The results of a list of calls that is a text."""
    results: list[Any] = []
    for node in ast.parse(text, mode="eval").body.elts:
        [owner] = [one for one in objects if hasattr(one, node.func.id)]
        given = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
        results.append(getattr(owner, node.func.id)(**given))
    return results
