"""The proof that a rewritten bundle does what its imported one does: drawn and recorded calls on both."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from agent_client.errors import AgentError
from agent_client.references import resolve
from agent_client.trace import ToolResult
from servers.bundle.examples import EXAMPLES_FILE, load_examples
from servers.errors import BundleError, QueryError
from servers.scenario.scenario_file import load_scenarios
from servers.worker.instance import CallOutcome
from synth.play.playground import Playground
from synth.play.row_view import SchemaShape
from synth.relational.call_drawer import CallDrawer
from synth.relational.paired_run import Compared, PairedRun, call_text, calls_text
from synth.relational.states import FIRST, TwinStart, imported_start, own_rows, starts_of
from synth.relational.twin_file import EquivalenceShown, ToolAgreement, Twin, imported_digest

WALK = 15
"""The most drawn calls of a run."""
CALLS = 1000
MOST_FINDINGS = 12
MOST_OF_A_TOOL = 3
"""Findings of one tool."""
TELLING, MOST_TELLING = 60, 5
"""Letters by which a result tells more than another, and how often that counts."""
MOST_REPEATED = 40
"""Variations of a command that are made after it too."""
MOST_VARIED = 2
"""Successful calls of a tool that are varied: those with the most arguments."""
MOST_SHORTENED = 4
FEWEST_SAID = 8
"""Letters of the words by which a declared refusal is told."""
TwinCalls = Sequence[tuple[str, dict[str, Any]]]


@dataclass
class Equivalence:
    """What a comparison found. It is proved if there is no finding."""

    findings: list[str] = field(default_factory=list[str])
    calls: int = 0
    states: int = 0
    starts: int = 0
    tools: dict[str, ToolAgreement] = field(default_factory=dict[str, ToolAgreement])
    differences: list[int] = field(default_factory=list[int])

    @property
    def shown(self) -> EquivalenceShown:
        """Its figures."""
        return EquivalenceShown(
            calls=self.calls,
            states=self.states,
            starts=self.starts,
            tools=self.tools,
            differences=tuple(self.differences),
        )


async def compare(
    imported: Path,
    own: Path,
    twin: Twin,
    *,
    calls: int = CALLS,
    seed: int = 0,
    tools: Sequence[str] = (),
) -> Equivalence:
    """Play both bundles. With `tools`, only those are called, and what is to be seen of all is not asked.

    Beside the drawn calls, successful ones are made again with each argument changed in every way.

    Raises:
        BundleError: one of them does not start.
        QueryError: a start of the imported one cannot be loaded.
    """
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(Playground(imported))
        here = await stack.enter_async_context(Playground(own))
        return await compare_open(there, here, twin, calls=calls, seed=seed, tools=tools)


async def compare_open(
    there: Playground,
    here: Playground,
    twin: Twin,
    *,
    calls: int = CALLS,
    seed: int = 0,
    tools: Sequence[str] = (),
) -> Equivalence:
    """The same for open playgrounds."""
    work = _Comparison(there, here, twin, Random(seed), tools or tuple(there.environment.tools))  # noqa: S311 - a seed is what repeats
    if not tools:
        work.found.findings += interface_differences(there, here)
    if imported_digest(there.environment) != twin.digest:
        work.found.findings.append(f"{twin.imported}: is not what this bundle was written from")
    if work.found.findings:
        return work.found
    await work.open_starts()
    await work.replay_recorded()
    await work.walk(calls)
    await work.vary()
    if not tools and not work.found.findings:
        work.found.findings += unseen(work.found, twin)
    return work.found


def interface_differences(imported: Playground, own: Playground) -> list[str]:
    """Tools that are missing, or that an agent would read differently."""
    there, here = imported.environment.tools, own.environment.tools
    found = [f"{name}: the rewritten bundle has no such tool" for name in there.keys() - here.keys()]
    found += [f"{name}: the imported bundle has no such tool" for name in here.keys() - there.keys()]
    for name in sorted(there.keys() & here.keys()):
        if there[name].arguments != here[name].arguments:
            found.append(f"{name}: takes other arguments than the imported tool")
        if here[name].writes and not there[name].writes:
            found.append(f"{name}: writes, and the imported tool only reads")
    return sorted(found)


def unseen(found: Equivalence, twin: Twin) -> list[str]:
    """What must be seen and was not: that every tool agrees, and that few calls are refused here alone."""
    told = [
        f"{name}: no call was seen in which both agree" for name, one in found.tools.items() if not one.ok + one.refused
    ]
    alone: Counter[str] = Counter()
    for one, times in zip(twin.differences, found.differences, strict=True):
        alone[one.tool] += times if one.kind == "refuses" else 0
    told += [
        f"{name}: refuses {times} calls that the imported tool permits, and both permit {found.tools[name].ok}"
        for name, times in alone.items()
        if times > found.tools[name].ok
    ]
    return told


def declared_problems(twin: Twin) -> list[str]:
    """Declared differences that say too little."""
    return [
        f"differences: {one.tool}: says: {one.says!r} is too short to tell the refusal by"
        for one in twin.differences
        if one.kind != "order" and len(one.says) < FEWEST_SAID
    ]


class _Good(NamedTuple):
    """Calls from a start that end with a successful one. A result that tells more is worth more, then fewer calls."""

    worth: tuple[int, int]
    start: str
    calls: TwinCalls


class _Comparison:
    """The runs of one comparison."""

    def __init__(self, imported: Playground, own: Playground, twin: Twin, random: Random, tools: Sequence[str]) -> None:
        self._there, self._here, self._twin, self._random = imported, own, twin, random
        self.found = Equivalence(tools={tool: ToolAgreement() for tool in tools})
        self.found.differences = [0] * len(twin.differences)
        self._runs: dict[str, PairedRun] = {}
        self._shape: SchemaShape | None = None
        self._told: Counter[str] = Counter()
        self._good: dict[tuple[str, frozenset[str]], _Good] = {}
        """By tool and set of arguments."""
        self._drawer: CallDrawer | None = None

    async def open_starts(self) -> None:
        """Begin a pair of instances at each start of the imported environment."""
        for start in await twin_starts(self._there, self._here, self._twin):
            run = PairedRun(
                await self._there.launch(setup=start.imported, clock=start.clock),
                await self._here.launch(setup=start.own, clock=start.clock),
                self._twin,
            )
            wrong = await run.begin()
            if wrong:
                self.found.findings.append(f"at the start {start.name or '(first rows)'} the states differ: {wrong}")
            self._runs[start.name] = run
        self.found.starts = len(self._runs)
        self._shape = await self._runs[FIRST].own.shape()

    async def replay_recorded(self) -> None:
        """The calls that the bundles hold: examples, solutions and witnesses."""
        environment = self._here.environment
        if (environment.folder / EXAMPLES_FILE).exists():
            for example in load_examples(environment.folder):
                if not example.setup and example.tool in self.found.tools:
                    await self._play(FIRST, [(example.tool, example.arguments)])
        for playground in (self._there, self._here):
            for name, scenario in load_scenarios(playground.environment).items():
                solution = scenario.solution or scenario.witness
                calls = [(one.tool, one.arguments) for one in solution.calls] if solution is not None else []
                if name in self._runs and all(tool in self.found.tools for tool, _ in calls):
                    await self._play(name, calls)

    async def walk(self, calls: int) -> None:
        """Drawn calls, in runs from every start. Tools that were seen less are called more often."""
        scenarios = tuple(load_scenarios(self._there.environment).values())
        shape = self._shape
        if shape is None:
            return
        drawer = CallDrawer(self._there.environment, self._here.environment, shape, scenarios, self._random)
        self._drawer = drawer
        until = self.found.calls + calls
        while self.found.calls < until and len(self.found.findings) < MOST_FINDINGS:
            name = self._random.choice(list(self._runs))
            run, made = self._runs[name], list[tuple[str, dict[str, Any]]]()
            if await run.begin():
                return
            drawer.sampler.begin()
            for _ in range(min(WALK, until - self.found.calls)):
                view = await run.own.view(shape)
                tool = self._next()
                arguments = run.as_imported(drawer.draw(tool, run.state, view, run.own.now))
                made.append((tool, arguments))
                one = await run.call(tool, arguments)
                drawer.sampler.learn(tool, arguments, one.own)
                self._count(tool, one)
                self._note(name, made, one)
                if one.wrong:
                    await self._tell(name, made, one)
                if one.over:
                    break

    async def vary(self) -> None:
        """Make successful calls again, with other arguments."""
        if self._drawer is None:
            return
        by_tool: defaultdict[str, list[_Good]] = defaultdict(list)
        for (tool, _), good in sorted(self._good.items(), key=lambda item: (-len(item[0][1]), sorted(item[0][1]))):
            by_tool[tool].append(good)
        for tool, found in by_tool.items():
            for _, name, calls in found[:MOST_VARIED]:
                await self._runs[name].begin()
                state = self._runs[name].state
                others = self._drawer.variations(tool, dict(calls[-1][1]), state)
                again = others[:MOST_REPEATED] if self._there.environment.tools[tool].writes else []
                for before, arguments in (*((calls[:-1], one) for one in others), *((calls, one) for one in again)):
                    if self._told[tool] < MOST_OF_A_TOOL:
                        await self._varied(name, [*before, (tool, arguments)])

    async def _varied(self, name: str, calls: TwinCalls) -> None:
        run = self._runs[name]
        if await run.begin():
            return
        for tool, arguments in calls[:-1]:
            if (await run.call(tool, arguments)).over:
                return
        one = await run.call(*calls[-1])
        self._count(calls[-1][0], one)
        if one.wrong:
            await self._tell(name, calls, one)

    def _note(self, name: str, made: TwinCalls, one: Compared) -> None:
        tool, arguments = made[-1]
        key = (tool, frozenset(arguments))
        if one.own.kind == "ok" and not one.wrong:
            worth = (min(len(one.own.text) // TELLING, MOST_TELLING), -len(made))
            if key not in self._good or worth > self._good[key].worth:
                self._good[key] = _Good(worth, name, tuple(made))

    def _next(self) -> str:
        names = list(self.found.tools)
        told = self.found.tools
        takes = self._there.environment.tools
        weights = [
            0.1 + 2 / (1 + told[name].ok) + 1 / (1 + told[name].refused) if takes[name].properties else 0.05
            for name in names
        ]
        return self._random.choices(names, weights)[0]

    async def _play(self, name: str, calls: TwinCalls) -> None:
        run, results = self._runs[name], list[ToolResult]()
        if await run.begin():
            return
        made: list[tuple[str, dict[str, Any]]] = []
        for tool, told in calls:
            try:
                arguments = resolve(told, results)
            except AgentError:
                return
            made.append((tool, arguments))
            one = await run.call(tool, arguments)
            results.append(_result(one.imported))
            self._count(tool, one)
            self._note(name, made, one)
            if one.wrong:
                await self._tell(name, made, one)
            if one.over:
                return

    def _count(self, tool: str, one: Compared) -> None:
        self.found.calls += 1
        self.found.states += one.compared_states
        if one.declared is not None:
            self.found.differences[one.declared] += 1
        if not one.wrong and one.agreed != "invalid":
            told = self.found.tools[tool]
            self.found.tools[tool] = told.model_copy(update={one.agreed: getattr(told, one.agreed) + 1})

    async def _tell(self, name: str, made: TwinCalls, one: Compared) -> None:
        """Add a finding, with the fewest calls before it that show it."""
        self._told[made[-1][0]] += 1
        if self._told[made[-1][0]] > MOST_OF_A_TOOL:
            return
        calls = list(made)
        if len(self.found.findings) < MOST_SHORTENED:
            for place in reversed(range(len(calls) - 1)):
                fewer = [*calls[:place], *calls[place + 1 :]]
                again = await self._again(name, fewer)
                if again is not None:
                    calls, one = fewer, again
        before = f" after {calls_text(calls[:-1])}" if len(calls) > 1 else ""
        tool, arguments = calls[-1]
        start = f" (start: {name})" if name != FIRST else ""
        self.found.findings.append(f"{tool}: {call_text(tool, arguments)}{before}{start}: {one.wrong}")

    async def _again(self, name: str, calls: TwinCalls) -> Compared | None:
        """The last call of a run, if it is wrong in that run too."""
        run = self._runs[name]
        if await run.begin():
            return None
        for tool, arguments in calls[:-1]:
            if (await run.call(tool, arguments)).over:
                return None
        last = await run.call(*calls[-1])
        return last if last.wrong else None


async def twin_starts(imported: Playground, own: Playground, twin: Twin) -> list[TwinStart]:
    """Each start of the imported environment, and the same as rewritten rows. Raises QueryError."""
    environment, ours = imported.environment, own.environment
    found: list[TwinStart] = []
    for name, (setup, clock) in starts_of(environment).items():
        state = await imported_start(environment, setup, clock, own.worker.guests)
        try:
            rows = await own_rows(
                own.worker.guests,
                schema=ours.schema,
                loading=twin.loading_sql,
                state=state,
                clock=clock or environment.description.clock,
            )
        except QueryError as error:
            raise BundleError(
                f"{twin.imported}: the start {name or '(first rows)'} cannot be loaded: {error}"
            ) from None
        found.append(TwinStart(name, setup, rows if name != FIRST else "", clock))
    return found


def _result(outcome: CallOutcome) -> ToolResult:
    return ToolResult(text=outcome.text, structured=outcome.structured, is_error=outcome.kind != "ok")


def figures(shown: EquivalenceShown) -> Mapping[str, int]:
    """The sums of a comparison."""
    return {
        "calls": shown.calls,
        "agreed_ok": sum(one.ok for one in shown.tools.values()),
        "agreed_refused": sum(one.refused for one in shown.tools.values()),
        "differed_as_declared": sum(one.differed for one in shown.tools.values()),
        "states": shown.states,
    }
