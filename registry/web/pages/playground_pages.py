"""The playground: an instance as a person plays it, or watches an agent play it."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from agent_client.errors import AgentError
from agent_client.references import resolve, resolve_text
from agent_client.trace import ToolResult
from registry.messages import EnvironmentDetail, LaunchRequest, Lease, Score
from registry.web.app import PageView, Visit
from registry.web.call_form import PREFIX, arguments_of, fields
from registry.web.live import LiveFeed
from registry.web.pages.model_plays import ModelOrder, ModelPlays
from registry.web.pages.shown_tables import keys_of, table_view
from servers.bundle.description import Tool
from servers.doors.operations import (
    CALL,
    HISTORY,
    RESET,
    REWIND,
    STANDING,
    CallOrder,
    HistoryOrder,
    InstanceOrder,
    RewindOrder,
)
from servers.errors import BundleError, Conflict, FarmError, NotFound, RequestError
from servers.messages import CallAnswer, CallRecord, InstanceStatus, StartTable
from servers.records import OPENAI
from servers.scenario.answer_shape import task_asking
from servers.scenario.scenario import Scenario
from servers.validation import problems

CALLS_SHOWN = 30
"""The newest calls of the time line. `all` shows more."""
MOST_CALLS_SHOWN = 1000
TTL_SECONDS = 3600
"""Seconds until an instance that a page launched ends, unless it is played."""
MOST_STEPS = 100
CALLS = TypeAdapter(tuple[CallRecord, ...])


class ReferenceStep(NamedTuple):
    """A call of the reference solution. Its arguments are resolved as far as its references lead somewhere."""

    number: int
    tool: str
    arguments: dict[str, Any]
    state: str
    """One of: done, next, later."""


class ReferencePlan(NamedTuple):
    """The reference solution beside the history. `followed` is the number of calls that both begin with."""

    steps: list[ReferenceStep]
    followed: int
    is_on_it: bool
    """True if the history holds no other call."""
    answer: str
    """The reference's answer, once all calls are made."""


class PlaygroundPages:
    """The pages of instances of one farm."""

    def __init__(self, feed: LiveFeed, plays: ModelPlays) -> None:
        self._feed = feed
        self._plays = plays

    def routes(self) -> dict[str, PageView]:
        one = "/instances/{instance}"
        return {
            "POST /instances": self.launch,
            f"GET {one}": self.show,
            f"GET {one}/events": self.events,
            f"POST {one}/call": self.call,
            f"POST {one}/step": self.step,
            f"POST {one}/rewind": self.rewind,
            f"POST {one}/fork": self.fork,
            f"POST {one}/score": self.score,
            f"POST {one}/prolong": self.prolong,
            f"POST {one}/close": self.close,
            f"POST {one}/model": self.model,
            f"POST {one}/take-over": self.take_over,
        }

    async def launch(self, visit: Visit) -> Response:
        """Launch an instance for a person."""
        try:
            order = LaunchRequest(
                environment=visit.form.get("environment", ""),
                scenario=visit.form.get("scenario") or None,
                ttl_seconds=TTL_SECONDS,
            )
        except ValidationError as error:
            raise RequestError("; ".join(problems(error))) from None
        [lease] = await visit.registry.launch(order)
        return visit.go_to(f"/instances/{lease.instance}")

    async def events(self, visit: Visit) -> Response:
        """Say when the instance has changed, for as long as the page is open."""
        self._feed.see_that_there_is_room()  # before anything is looked up
        return await self._feed.stream(visit, await visit.registry.kept(visit.part("instance")))

    async def show(self, visit: Visit, *, problem: str = "") -> Response:
        """The playground of one instance."""
        begin = time.process_time()  # what others do meanwhile counts, too; that the machine is busy does not
        lease = await visit.registry.find(visit.part("instance"))
        if is_over(lease):
            return await over_page(visit, lease)
        answer = await self._shown(visit, lease, problem)
        if visit.request.headers.get("x-live"):
            self._feed.spent(time.process_time() - begin)
        return answer

    async def _shown(self, visit: Visit, lease: Lease, problem: str) -> Response:
        catalogue = visit.registry.catalogue
        detail = await catalogue.answer(lambda: catalogue.environment(lease.environment))
        scenario, trouble = await self._scenario(visit, lease)
        door = await visit.registry.reading_door(lease.instance)
        mark = await self._feed.mark(door.kept)
        standing = await door.ask(STANDING, InstanceOrder(instance=lease.instance))
        most = MOST_CALLS_SHOWN if visit.asked("all") else CALLS_SHOWN
        calls = await self._calls(visit, lease, max(0, standing.calls - most), most)
        plan = await self._plan(visit, lease, scenario, standing, calls)
        starts = await self._starts(visit, detail)
        view = await table_view(
            door, lease.instance, starts, wanted=visit.asked("table"), offset=visit.number("row", most=10**9)
        )
        tools = [one for one in detail.tools if _is_offered(one, scenario)]
        tool = next((one for one in tools if one.name == visit.asked("tool")), None)
        asked_for = visit.form or dict(visit.request.query_params)
        form = fields(tool, asked_for, starts) if tool else []
        scores = await _scores(visit, lease)
        return await visit.drawn(
            "playground.html",
            422 if problem else 200,
            lease=lease,
            detail=detail,
            scenario=scenario,
            told=task_asking(scenario, detail.clock) if scenario else "",
            trouble=trouble,
            standing=standing,
            calls=list(reversed(calls)),
            left_out=max(0, standing.calls - len(calls)),
            plan=plan,
            view=view,
            tools=tools,
            tool=tool,
            form=form,
            keys={
                name: await keys_of(door, lease.instance, name) for name in sorted({one.table for one in form} - {""})
            },
            prefix=PREFIX,
            problem=problem,
            score=scores[-1] if scores else None,
            checkpoints={one.id: one for one in scenario.checkpoints} if scenario else {},
            play=self._plays.of(lease.instance),
            openai=OPENAI,
            query=_query(visit),
            mark=mark,
        )

    async def _scenario(self, visit: Visit, lease: Lease) -> tuple[Scenario | None, str]:
        """The scenario of an instance, or why it cannot be shown."""
        if lease.scenario is None:
            return None, ""
        catalogue, name = visit.registry.catalogue, lease.scenario
        try:
            return await catalogue.answer(lambda: catalogue.library.scenario(lease.environment, name)), ""
        except (NotFound, BundleError) as error:
            return None, catalogue.without_folders(str(error))

    async def _told(self, visit: Visit, lease: Lease, scenario: Scenario | None) -> str:
        """What an agent is told of a scenario. Empty without one."""
        if scenario is None:
            return ""
        catalogue, name = visit.registry.catalogue, scenario.id
        return await catalogue.answer(lambda: catalogue.scenario(lease.environment, name).told)

    async def _starts(self, visit: Visit, detail: EnvironmentDetail) -> list[StartTable]:
        """The tables at the start, for references and look-ups. None if they cannot be had: the page does without."""
        try:
            return await visit.pages.start_tables(detail.id, detail.digest)
        except FarmError:
            return []

    async def _calls(self, visit: Visit, lease: Lease, after: int, limit: int) -> list[CallRecord]:
        door = await visit.registry.reading_door(lease.instance)
        order = HistoryOrder(instance=lease.instance, after=after, limit=min(limit, MOST_CALLS_SHOWN))
        return list(await asyncio.to_thread(CALLS.validate_json, await door.ask(HISTORY, order)))

    async def _plan(
        self,
        visit: Visit,
        lease: Lease,
        scenario: Scenario | None,
        standing: InstanceStatus,
        newest: Sequence[CallRecord],
    ) -> ReferencePlan | None:
        if scenario is None or scenario.solution is None:
            return None
        first = newest
        if standing.calls > len(newest):
            first = await self._calls(visit, lease, 0, min(MOST_STEPS, len(scenario.solution.calls) + 1))
        return reference_plan(scenario, first, standing.calls)

    async def call(self, visit: Visit) -> Response:
        """Make a tool call."""
        lease = await visit.registry.find(visit.part("instance"))
        catalogue = visit.registry.catalogue
        detail = await catalogue.answer(lambda: catalogue.environment(lease.environment))
        tool = _tool(detail, visit.form.get("tool", ""))
        if tool is None:
            return await self.show(visit, problem="Choose a tool.")
        try:
            arguments = arguments_of(tool, visit.form)
        except RequestError as error:
            return await self._refused(visit, tool, str(error))
        answer = await self._make(visit, tool.name, arguments)
        if answer.outcome != "ok":
            return await self._refused(visit, tool, answer.text)
        return visit.go_to(self._back(visit, tool=tool.name))

    async def _refused(self, visit: Visit, tool: Tool, why: str) -> Response:
        """The playground with the form as it was filled, and why its call was refused."""
        kept = {"tool": tool.name, "table": visit.form.get("table", "")}
        visit.request.scope["query_string"] = urlencode({name: text for name, text in kept.items() if text}).encode()
        return await self.show(visit, problem=why)

    async def _make(self, visit: Visit, tool: str, arguments: dict[str, Any]) -> CallAnswer:
        """Make a call, and prolong the lease, since somebody is there."""
        instance = visit.part("instance")
        door = await visit.registry.door(instance)
        answer = await door.ask(CALL, CallOrder(instance=instance, tool=tool, arguments=arguments))
        await visit.registry.heartbeat(instance)
        return answer

    async def step(self, visit: Visit) -> Response:
        """Make the next call of the reference solution."""
        lease = await visit.registry.find(visit.part("instance"))
        scenario, trouble = await self._scenario(visit, lease)
        if scenario is None:
            raise Conflict(trouble or "this instance has no scenario, so there is no reference")
        door = await visit.registry.door(lease.instance)
        standing = await door.ask(STANDING, InstanceOrder(instance=lease.instance))
        plan = await self._plan(visit, lease, scenario, standing, ())
        following = next((one for one in plan.steps if one.state == "next"), None) if plan else None
        if plan is None or following is None or not plan.is_on_it:
            raise Conflict("the calls so far are not those of the reference, or all of them are made")
        await self._make(visit, following.tool, following.arguments)
        return visit.go_to(self._back(visit))

    async def rewind(self, visit: Visit) -> Response:
        """Undo every call after one, or all of them."""
        instance, call = visit.part("instance"), _number(visit, "call")
        door = await visit.registry.door(instance)
        if call == 0:
            await door.ask(RESET, InstanceOrder(instance=instance))
        else:
            await door.ask(REWIND, RewindOrder(instance=instance, call=call))
        return visit.go_to(self._back(visit))

    async def fork(self, visit: Visit) -> Response:
        """Fork the instance as it was after a call, and show the fork."""
        call = _number(visit, "call")
        [lease] = await visit.registry.fork(visit.part("instance"), 1)
        door = await visit.registry.door(lease.instance)
        await door.ask(REWIND, RewindOrder(instance=lease.instance, call=call))
        return visit.go_to(f"/instances/{lease.instance}")

    async def score(self, visit: Visit) -> Response:
        """Judge the instance as it is."""
        await visit.registry.score(visit.part("instance"), visit.form.get("answer", ""))
        return visit.go_to(self._back(visit))

    async def prolong(self, visit: Visit) -> Response:
        """Start the time of the lease again."""
        await visit.registry.heartbeat(visit.part("instance"))
        return visit.go_to(self._back(visit))

    async def close(self, visit: Visit) -> Response:
        """End the instance."""
        instance = visit.part("instance")
        await self._plays.end(instance)
        await visit.registry.close(instance)
        return visit.go_to(visit.form["back"] if visit.form.get("back") == "/instances" else f"/instances/{instance}")

    async def model(self, visit: Visit) -> Response:
        """Let a model play the instance, from where it is."""
        lease = await visit.registry.find(visit.part("instance"))
        scenario, trouble = await self._scenario(visit, lease)
        task = visit.form.get("task", "").strip() or await self._told(visit, lease, scenario)
        if not task:
            raise RequestError(trouble or "tell the model what to do")
        url, token = lease.address()
        try:
            order = ModelOrder(
                parent=0,
                url=url,
                token=token,
                task=task,
                persona=scenario.persona if scenario and visit.form.get("talk") else None,
                base_url=visit.form.get("base_url") or OPENAI,
                model=visit.form.get("model", ""),
                api_key=visit.form.get("key") or "none",
            )
        except ValidationError as error:
            raise RequestError("; ".join(problems(error))) from None
        await self._plays.begin(lease.instance, order)
        return visit.go_to(self._back(visit))

    async def take_over(self, visit: Visit) -> Response:
        """End a model's play. The instance stays as it is."""
        await self._plays.end(visit.part("instance"))
        return visit.go_to(self._back(visit))

    def _back(self, visit: Visit, **more: str) -> str:
        """The page that a form came from: the instance, with its tool and table."""
        kept = {name: visit.form[name] for name in ("tool", "table") if visit.form.get(name)}
        query = urlencode({**kept, **more})
        return f"/instances/{visit.part('instance')}{'?' if query else ''}{query}"


def is_over(lease: Lease) -> bool:
    """True if an instance has no state any more that could be read."""
    return lease.status in ("closed", "lost") or (lease.status == "expired" and lease.kept_until is None)


async def over_page(visit: Visit, lease: Lease) -> Response:
    """What is left of an instance that is over: its last score, and a way to launch another."""
    return await visit.drawn("instance_over.html", lease=lease, scores=await _scores(visit, lease))


async def _scores(visit: Visit, lease: Lease) -> list[Score]:
    return await asyncio.to_thread(visit.registry.ledger.scores, lease.instance)


def reference_plan(scenario: Scenario, first: Sequence[CallRecord], made: int) -> ReferencePlan:
    """The reference of a scenario beside the first calls of a history of `made` calls."""
    solution = scenario.reference()
    results = [_result(call) for call in first]
    steps: list[ReferenceStep] = []
    followed, follows = 0, True
    for number, planned in enumerate(solution.calls[:MOST_STEPS], start=1):
        arguments, known = _resolved(planned.arguments, results[: number - 1])
        call = first[number - 1] if number <= len(first) else None
        if follows and call is not None and known and (call.tool, call.arguments) == (planned.tool, arguments):
            followed += 1
            state = "done"
        else:
            state = "next" if follows else "later"
            follows = False
        steps.append(ReferenceStep(number, planned.tool, arguments, state))
    is_on_it = made == followed
    answer = ""
    if is_on_it and followed == len(solution.calls):
        try:
            answer = resolve_text(solution.answer, results)
        except AgentError:
            answer = solution.answer
    return ReferencePlan(steps, followed, is_on_it, answer)


def _resolved(arguments: dict[str, Any], results: Sequence[ToolResult]) -> tuple[dict[str, Any], bool]:
    """Arguments with the values of their references, and whether all have one."""
    try:
        return resolve(arguments, results), True
    except AgentError:
        return arguments, False


def _result(call: CallRecord) -> ToolResult:
    try:
        structured = json.loads(call.text) if call.outcome == "ok" else None
    except (ValueError, RecursionError):
        structured = None
    return ToolResult(text=call.text, structured=structured, is_error=call.outcome != "ok")


def _tool(detail: EnvironmentDetail, name: str) -> Tool | None:
    return next((tool for tool in detail.tools if tool.name == name), None)


def _is_offered(tool: Tool, scenario: Scenario | None) -> bool:
    """True if a scenario leaves its agent a tool at some turn."""
    return scenario is None or scenario.tools is None or scenario.tools.get(tool.name, -1) >= 0


def _number(visit: Visit, name: str) -> int:
    """The number of a call in a form. Raises RequestError."""
    text = visit.form.get(name, "")
    if not text.isdecimal() or len(text) > 9:
        raise RequestError(f"{name}: must be the number of a call")
    return int(text)


def _query(visit: Visit) -> dict[str, str]:
    """What the page was asked for, so that its links keep the rest."""
    return {name: value for name in ("tool", "table", "all") if (value := visit.asked(name))}
