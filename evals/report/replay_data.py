"""A rollout for the page: turns, calls, results, changed rows and verdicts, compressed."""

import base64
import json
import math
import zlib
from collections.abc import Sequence
from typing import Any, cast

from agent_client.trace import Trace
from evals.rollout import Rollout
from servers.text.json_values import is_object

LONGEST_RESULT = 20_000
"""The most characters of one result on the page. `farm show` prints all of it."""


def packed(value: Any) -> str:
    """JSON, deflated, in base64. The page unpacks it on demand."""
    return base64.b64encode(zlib.compress(as_json(value).encode(), 6)).decode()


def as_json(value: Any) -> str:
    """A value as JSON that every browser reads: without NaN, infinity and lone surrogates."""
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def _finite(value: Any) -> Any:
    """Replace NaN and infinity by null, since browsers read neither."""
    if is_object(value):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in cast("Sequence[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def openable(run: Rollout) -> dict[str, Any]:
    """A rollout as plain values for the page."""
    trace = run.trace
    return {
        "error": run.error,
        "seed": run.seed,
        "task": trace.task if trace is not None else "",
        "user": trace.user if trace is not None else "",
        "answer": trace.answer if trace is not None else "",
        "end": trace.end if trace is not None else "",
        "turns": _turns(run, trace) if trace is not None else [],
        "verdicts": [verdict.model_dump(mode="json") for verdict in run.score.verdicts] if run.score else [],
        "timings": run.timings.model_dump() if run.timings else None,
    }


def _turns(run: Rollout, trace: Trace) -> list[dict[str, Any]]:
    effects = {effect.call: effect for effect in run.effects or ()}
    turns: list[dict[str, Any]] = []
    number = 0
    for turn in trace.turns:
        calls: list[dict[str, Any]] = []
        for at, call in enumerate(turn.calls):
            result = turn.results[at] if at < len(turn.results) else None
            effect = effects.get(number)
            calls.append(
                {
                    "tool": call.tool,
                    "arguments": call.arguments,
                    "malformed": call.malformed,
                    "result": _cut(result.text) if result is not None else None,
                    "error": result is not None and result.is_error,
                    "changes": [change.model_dump(mode="json") for change in effect.changes] if effect else [],
                    "micros": effect.micros if effect else 0,
                }
            )
            number += 1
        turns.append(
            {
                "text": turn.text,
                "thinking": turn.thinking,
                "calls": calls,
                "user": turn.user,
                "tokens": turn.tokens,
                "seconds": round(turn.seconds, 3),
            }
        )
    return turns


def _cut(text: str) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[:LONGEST_RESULT]}… ({len(text) - LONGEST_RESULT:,} more characters; `farm show` has them)"
