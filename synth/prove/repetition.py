"""Repeated walks: interleaved with another one in a guest, and each alone in a fresh guest.

All results must be equal.

This shows what instances share in a guest's memory: a walk that is alone shares it with none.
"""

from collections.abc import Callable, Sequence

from synth.play.playground import Playground, Session
from synth.prove.call_sequence import CallSequence, Found, RecordedCall
from synth.prove.proof import ProofCheck


async def repeat(
    stage: Playground, walks: Sequence[CallSequence], found: Found, on_call: Callable[[int], None]
) -> None:
    """Repeat walks on another playground: each in a process of its own, without any other walk."""
    scenes: dict[tuple[str, str], Session] = {}
    for walk in walks:
        await stage.renew_guests()
        start = (walk.clock, walk.setup)
        scene = scenes[start] = scenes.get(start) or await stage.launch(clock=walk.clock, setup=walk.setup)
        await scene.rewind()
        for made in walk.calls:
            await _again(scene, made, found, "repeats", "made again from the same start")
        await _same_rows(scene, walk, found, "repeats", "made again from the same start")
        on_call(len(walk.calls))


async def interleave(
    stage: Playground, walks: Sequence[CallSequence], found: Found, on_call: Callable[[int], None]
) -> None:
    """Repeat walks in pairs, call by call in turns, so that each call's guest has to build its rows again."""
    for one, other in zip(walks[::2], walks[1::2], strict=False):
        scenes = [await stage.launch(clock=walk.clock, setup=walk.setup) for walk in (one, other)]
        for place in range(max(len(one.calls), len(other.calls))):
            for walk, scene in zip((one, other), scenes, strict=True):
                if place < len(walk.calls):
                    await scene.rewind(scene.calls)
                    await _again(scene, walk.calls[place], found, "shares", "made while another instance was called")
        for walk, scene in zip((one, other), scenes, strict=True):
            await _same_rows(scene, walk, found, "shares", "made while another instance was called")
            await scene.close()
        on_call(len(one.calls) + len(other.calls))


async def _again(scene: Session, made: RecordedCall, found: Found, check: ProofCheck, how: str) -> None:
    found.checked(check)
    outcome = await scene.call(made.tool, made.arguments)
    if (outcome.kind, outcome.text) != (made.kind, made.text):
        found.add(check, made.tool, f"answered differently when {how}", made)


async def _same_rows(scene: Session, walk: CallSequence, found: Found, check: ProofCheck, how: str) -> None:
    if walk.calls and await scene.digest() != walk.calls[-1].digest:
        found.add(check, "rows", f"differ at the end of a walk that was {how}", walk.calls[-1])
