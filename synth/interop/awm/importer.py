"""Environments of Agent World Model as bundles: endpoints as tools, SQLite rows as state, verifiers as checkpoints."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.authoring.check import derived
from servers.bundle.description import Description, ImportedOrigin, Provenance, Tool
from servers.bundle.environment import as_json, tool_problems
from servers.errors import BundleError
from servers.gate.imported_gate import imported_problems
from servers.gate.parser import NOT_PYTHON
from servers.sandbox.guest_pool import START_SECONDS, Guests
from servers.scenario.checkpoints.checkpoint import NO_CALLS
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of
from servers.text.wording import counted
from synth.interop.awm.rows import ForeignRows, ForeignServer
from synth.interop.awm.server_texts import (
    checkpoint_text,
    is_a_name,
    module_text,
    probe_text,
    schema_text,
    seed_text,
    tool_text,
    writers_in,
)
from synth.interop.imports.class_trial import TrialError, open_trial
from synth.interop.imports.converter import LONGEST_TITLE, Arrival, name_of, put
from synth.interop.imports.dataset import ODD, Unreadable, trouble_words
from synth.interop.imports.written_files import WrittenFiles

SOURCE = "AgentWorldModel-1K"
AWM_CLOCK = "2026-02-01 09:00:00"


@dataclass(frozen=True)
class ServerOrigin:
    """What is said about the origin of the files."""

    date: str
    licence: str
    clock: str = AWM_CLOCK


async def import_servers(
    rows: ForeignRows, out: Path, origin: ServerOrigin, guests: Guests, on_arrival: Callable[[Arrival], None]
) -> list[Arrival]:
    """Write a bundle for each environment that has code and a schema. What an import wrote before is replaced."""
    arrivals: list[Arrival] = []
    written = WrittenFiles(out)
    for server in rows.servers.values():
        arrival = Arrival(name_of(server.name, "env"))
        try:
            written.refuse_foreign(out / arrival.id)
            await _import(server, out / arrival.id, origin, guests, arrival)
            written.keep(out / arrival.id)
        except (Unreadable, BundleError) as problem:
            arrival.reason = str(problem)
        except ODD as problem:
            arrival.reason = f"has another shape than was expected: {trouble_words(problem)}"
        arrivals.append(arrival)
        on_arrival(arrival)
    return arrivals


async def _import(server: ForeignServer, folder: Path, origin: ServerOrigin, guests: Guests, arrival: Arrival) -> None:
    if not server.code.strip():
        raise Unreadable("full_code: there is no code of this environment among the files")
    if not server.tables:
        raise Unreadable("db_schema: there is no schema of this environment among the files")
    schema, seed = schema_text(server), seed_text(server)
    writers = writers_in(server.code)
    endpoints = await _endpoints(server.code, (schema, seed, ""), origin, guests, arrival)
    if not endpoints:
        raise Unreadable("full_code: has no endpoint that could be a tool")
    image = await _image(schema, seed, origin.clock, guests)
    scenarios = await _scenarios(server, image, origin.clock, guests, arrival)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        tools = [tool_text(one, writes=not one["reads"] or one["function"] in writers) for one in endpoints]
        files = {
            "policy.md": f"# {_title(server)}\n\nYou work for the user with the id 1.\n",
            "schema.sql": schema,
            "seed.sql": seed,
            "tools.py": module_text(server.code) + "".join(tools),
            "scenarios.jsonl": lines_of(scenarios),
        }
        for name, text in files.items():
            (part / name).write_text(text, encoding="utf-8")
        schemas = {one["name"]: one["arguments"] for one in endpoints}
        kept = [one.model_copy(update={"arguments": schemas[one.name]}) for one in await derived(part, guests)]
        description = as_json(_description(folder.name, server, tuple(kept), origin))
        (part / "environment.json").write_text(description, encoding="utf-8")
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    put(part, folder)
    arrival.folder, arrival.tools, arrival.scenarios = folder, len(kept), len(scenarios)


async def _endpoints(
    code: str, scripts: tuple[str, str, str], origin: ServerOrigin, guests: Guests, arrival: Arrival
) -> list[dict[str, Any]]:
    """What a guest tells of the endpoints. It has run their code, so its answer is checked like any other."""
    text = probe_text(code)
    try:
        async with open_trial(
            guests, text, clock=origin.clock, seconds=START_SECONDS, scripts=scripts, framework=True
        ) as trial:
            told = (await trial.call("envfarm_endpoints"))["endpoints"]
    except TrialError as error:
        raise Unreadable(f"full_code: {error}") from None
    arrival.notes += [str(one["collision"]) for one in told if "collision" in one]
    found: list[dict[str, Any]] = []
    for one in told:
        if "collision" in one:
            continue
        try:
            if not is_a_name(one["name"]):
                raise Unreadable(f"{one['name']}: is no name of a tool")
            tool_text(one, writes=True)
            tool = Tool(name=one["name"], description="-", arguments=one["arguments"], result={}, writes=True)
            wrong = next(tool_problems(tool), None)
            if wrong:
                raise Unreadable(wrong)
            found.append(one)
        except Unreadable as reason:
            arrival.notes.append(f"{reason}: left out")
    return found


async def _image(schema: str, seed: str, clock: str, guests: Guests) -> bytes:
    scripts = (schema.encode(), seed.encode(), b"")
    head, parts = await guests.job({"do": "build", "now": clock}, *scripts, seconds=START_SECONDS)
    if head["findings"]:
        raise Unreadable(f"db_schema, sample_data: {head['findings'][0]}")
    return parts[0]


async def _scenarios(
    server: ForeignServer, image: bytes, clock: str, guests: Guests, arrival: Arrival
) -> list[Scenario]:
    kept: list[Scenario] = []
    bare = [number for number in range(len(server.tasks)) if number not in server.verifiers]
    if bare:
        arrival.notes.append(f"{counted(len(bare), 'task')} left out: without a verifier nothing can judge an episode")
    for number, code in sorted(server.verifiers.items()):
        name = f"task_{number}"
        if not 0 <= number < len(server.tasks):
            arrival.notes.append(f"{name}: left out: there is no task {number}")
            continue
        try:
            text = checkpoint_text(code)
        except NOT_PYTHON as error:
            arrival.notes.append(f"{name}: left out: its verifier is not Python: {error}")
            continue
        if problems := imported_problems(text):
            arrival.notes.append(f"{name}: left out: its verifier: {problems[0]}")
            continue
        checkpoint = PythonCheckpoint(
            id="verifier", role="goal", question="Does the verifier say complete?", kind="python", python=text
        )
        arrival.notes += [f"{name}: {note}" for note in await _at_start(checkpoint, image, clock, guests)]
        title = " ".join(server.tasks[number].split())
        kept.append(
            Scenario(
                id=name,
                title=title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}…",
                task=server.tasks[number],
                tags=("awm",),
                checkpoints=(checkpoint,),
            )
        )
    return kept


async def _at_start(checkpoint: PythonCheckpoint, image: bytes, clock: str, guests: Guests) -> list[str]:
    """What a verifier says before anything was done: it should be that the task is not complete."""
    if findings := await checkpoint.run_findings(image, clock, guests):
        return [f"its verifier cannot be asked: {findings[0]}"]
    head = {"do": "judge", "now": clock, "answer": ""}
    parts = (checkpoint.python.encode(), image, image, NO_CALLS)
    reply, _ = await guests.job(head, *parts, seconds=guests.call_seconds)
    if reply.get("holds") is True:
        return ["its verifier says complete before any call: it rewards doing nothing"]
    return [f"its verifier raises at the start: {reply['error']}"] if reply.get("error") else []


def _title(server: ForeignServer) -> str:
    return server.name.replace("_", " ")


def _description(name: str, server: ForeignServer, tools: tuple[Tool, ...], origin: ServerOrigin) -> Description:
    groups = ", ".join(str(one.get("group_name")) for one in server.groups if one.get("group_name"))
    about = server.description or (f"Endpoints for: {groups}." if groups else _title(server))
    return Description(
        id=name,
        title=_title(server),
        description=about,
        version="1.0.0",
        clock=origin.clock,
        tools=tools,
        provenance=Provenance(
            source=f"{SOURCE}, {server.name}",
            licence=origin.licence,
            date=origin.date,
            notes="Imported by `farm import awm`; a model wrote its code, rows and verifiers.",
        ),
        imported=ImportedOrigin(schemas="kept", code="endpoints"),
    )
