"""The depth of JSON, as the farm and the agent's side each measure it."""

import json
from typing import Any

import pytest

import agent_client.json_values
import servers.text.json_values

MOST = 3
BOTH = pytest.mark.parametrize("module", [agent_client.json_values, servers.text.json_values])
DEEP_ENOUGH: list[Any] = [1, [], {}, [[[]]], [[[1, 2]], [], []], {"a": {"b": {"c": "d"}}}, [[], [], [], []], ["[[[["]]
TOO_DEEP: list[Any] = [[[[[]]]], [[[{}]]], {"a": {"b": {"c": [1]}}}, [1, [2, [3, [4]]]]]


@BOTH
@pytest.mark.parametrize("value", DEEP_ENOUGH, ids=json.dumps)
def test_json_within_the_bound_is_not_deeper(module: Any, value: Any) -> None:
    assert not module.is_deeper(value, json.dumps(value), MOST)


@BOTH
@pytest.mark.parametrize("value", TOO_DEEP, ids=json.dumps)
def test_one_container_more_is_deeper(module: Any, value: Any) -> None:
    assert module.is_deeper(value, json.dumps(value), MOST)
