"""Evaluates the results of a model, and writes the scores down."""

import argparse
from typing import Any

from category import ACE_DATA_CATEGORY
from model_eval.checker import end_errors, process_of
from model_eval.evaluation_helper import *  # noqa: F403 - a module that guests do not have
from model_eval.utils import save_score_as_json
from model_inference.utils import decode_ast

OUTPUT_PATH = "scores/"
DECODERS = {"normal": decode_ast, **ACE_DATA_CATEGORY}
language = "en"


def agent_eval(
    results: list[dict[str, Any]], prompts: list[Any], answers: list[dict[str, Any]], category: str, model: str
) -> tuple[float, float]:
    """The part of the tasks that ended well, and how much of their milestones was reached."""
    ends, ways, told = 0, 0.0, list[Any]()
    for result, _prompt, answer in zip(results, prompts, answers, strict=True):
        errors = end_errors(result["result"], answer["ground_truth"])
        way = process_of(result["process"], answer["mile_stone"])
        ends, ways = ends + (not errors), ways + way
        if errors:
            told.append({"id": answer["id"], "error": errors, "process": way})
    end, way = ends / len(results), round(ways / len(results), 3)
    name = f"data_{category}_{language}.json"
    save_score_as_json(name, [{"end": end, "process": way}, *told], f"{OUTPUT_PATH}{model}")
    with open(f"{OUTPUT_PATH}{name}.txt", "w") as file:  # noqa: PTH123 - the guest gives another `open`
        file.write(f"{end} {way}\n")
    return end, way


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--category")
    parser.parse_args()


if __name__ == "__main__":
    main()
