"""A report on the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.report.comparison import RunComparison
from evals.report.official_number import REFERENCES, extents, whole_numbers
from evals.report.report import Group, Report
from evals.report.statistics import Estimate, PairedDifference
from evals.runs.causes import MEANINGS
from servers.text.terminal import marked
from servers.text.wording import counted, noun

MOST_ROWS = 12
MOST_GROUPS = 40


def show_report(console: Console, told: Report) -> None:
    """Print the figures of a run."""
    suite = told.header.suite
    perturbed = f"   perturbed: {suite.perturb}" if suite.perturb else ""
    console.print(Text.assemble((suite.name, "bold"), f"   {suite.agent_name}   {told.path}{perturbed}", "\n"))
    console.print(_headline(told))
    _show_trouble(console, told)
    if told.benchmarks:
        show_benchmarks(console, told)
    for dimension, groups in told.groups.items():
        if len(groups) > 1 or dimension == "environment":
            console.print(_groups(dimension, groups))
    if len(told.passing) > 1:
        console.print(_passing(told))
    if told.causes:
        console.print(_causes(told))
        console.print(_checkpoints(told))
    if told.probes:
        console.print(_probes(told))
    if any(tool.errors for tool in told.tools):
        console.print(_tools(told))


def show_benchmarks(console: Console, told: Report) -> None:
    """Print the numbers of public benchmarks, beside what others report."""
    suite = told.header.suite
    played_by = f"user: {suite.user.model}" if suite.user else "no simulated user"
    console.print(Text(f"\n{suite.name}: {suite.agent_name} ({played_by}; limits: {suite.limits_of})"))
    table = _table("part", "judged", "success, % [95 %]", "process, %", "pass^k, %")
    for one in told.benchmarks:
        table.add_row(
            one.environment,
            f"{one.judged} of {one.tasks * suite.run.attempts}",
            estimate(one.success, as_share=True),
            "" if one.process is None else f"{100 * one.process:.1f}",
            ", ".join(f"{k}: {100 * share:.1f}" for k, share in one.passing),
        )
    console.print(table)
    for one in told.benchmarks:
        console.print(Text(f"{one.environment}: {one.source}"), soft_wrap=True)
    some = extents(told.benchmarks, suite.scenarios)
    for name, number in whole_numbers(told.benchmarks).items():
        what = "a part has nothing that was judged" if number is None else f"{number:.1f} %, the mean over its parts"
        only = f" (only {some[name]}: not the benchmark's own number)" if name in some else ""
        console.print(Text(f"{name}: {what}{only}"), soft_wrap=True)
        for line in REFERENCES:
            if name in line.figures:
                figure = f"{line.figures[name]:.1f} %"
                console.print(Text(f"  for reference: {line.who} {figure} ({line.source})"), soft_wrap=True)


def show_comparison(console: Console, beside: RunComparison) -> None:
    """Print how another run differs."""
    both = f"{counted(len(beside.scenarios), 'scenario')} in both"
    console.print(Text(f"\n{beside.other} against {beside.first}: {both}", "bold"))
    for name, figure in (("success", beside.success), ("reward", beside.reward)):
        if figure is not None:
            console.print(f"  {name:8} {difference(figure, as_share=name == 'success')}")
    if beside.only_first or beside.only_other:
        console.print(f"  left out: {beside.only_first} in the first only, {beside.only_other} in the other only")
    if beside.changed:
        console.print(f"  left out, since they are not the same in both: {', '.join(beside.changed[:10])}")
    apart = sorted(beside.scenarios, key=lambda one: -abs(one.success[1] - one.success[0]))
    apart = [one for one in apart if one.success[0] != one.success[1]]
    if apart:
        table = _table("where they differ most", "first", "other")
        for one in apart[:MOST_ROWS]:
            table.add_row(one.scenario, percent(one.success[0]), percent(one.success[1]))
        console.print(table)


def difference(figure: PairedDifference, *, as_share: bool) -> str:
    """The difference of two figures: in percentage points, or in rewards from 0 to 1."""
    value, low, high = figure.difference
    scale, digits, unit = (100, 1, " points") if as_share else (1, 3, "")
    bounds = ""
    if low is not None and high is not None:
        bounds = f" [{scale * low:+.{digits}f}, {scale * high:+.{digits}f}]"
    return f"{scale * value:+.{digits}f}{unit}{bounds}, p = {figure.p:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def estimate(figure: Estimate | None, *, as_share: bool) -> str:
    """A figure with its bounds."""
    if figure is None:
        return "–"
    scale, digits = (100, 1) if as_share else (1, 3)
    told = f"{scale * figure.value:.{digits}f}"
    if figure.low is None or figure.high is None:
        return told
    return f"{told} [{scale * figure.low:.{digits}f}, {scale * figure.high:.{digits}f}]"


def _headline(told: Report) -> Table:
    table = _table("", "value [95 %]")
    table.add_row("strict success, %", estimate(told.all.success, as_share=True))
    table.add_row("reward", estimate(told.all.reward, as_share=False))
    places = counted(told.all.scenarios, "scenario")
    table.add_row("rollouts judged", f"{told.all.judged} of {told.header.rollouts}, at {places}")
    ends = ", ".join(f"{count} {outcome}" for outcome, count in told.outcomes.items() if count)
    table.add_row("how they ended", ends or "–")
    table.add_row("calls, tokens", f"{sum(one.calls for one in told.rollouts):,}, {_tokens(told):,}")
    return table


def _tokens(told: Report) -> int:
    return sum(one.tokens_in + one.tokens_out for one in told.rollouts)


def _show_trouble(console: Console, told: Report) -> None:
    """Print what the figures leave out, and how it could change them."""
    if told.header.left_out:
        count, line = len(told.header.left_out), told.header.suite.perturb
        console.print(marked("[yellow]{}[/] left out: the reference fails under {}", counted(count, "scenario"), line))
    if told.missing:
        verb = noun(told.missing, "is", "are")
        missing = f"{counted(told.missing, 'rollout')} of the suite {verb} not played yet"
        console.print(marked("[yellow]{}[/]; `farm eval` goes on.", missing))
    if told.torn:
        console.print(marked("[yellow]the last line was cut short[/] ({} bytes); `farm eval` mends it.", told.torn))
    if told.broken and told.bounds is not None:
        low, high = (percent(bound) for bound in told.bounds)
        count = told.outcomes["infra_error"]
        console.print(
            marked("[magenta]{}[/] {} no reward;", counted(count, "infra error"), noun(count, "has", "have")),
            f"if all had failed, success is {low}, else up to {high}:",
        )
        for error, times in told.broken[:MOST_ROWS]:
            console.print(Text(f"  {times} × {error[:200]}"))


def _groups(dimension: str, groups: Sequence[Group]) -> Table:
    table = _table(f"by {dimension}", "scenarios", "judged", "success, % [95 %]", "reward [95 %]")
    most = sorted(groups, key=lambda group: -group.rollouts)[:MOST_GROUPS]
    for group in [group for group in groups if group in most]:
        judged = str(group.judged) if group.judged == group.rollouts else f"{group.judged} of {group.rollouts}"
        success, reward = estimate(group.success, as_share=True), estimate(group.reward, as_share=False)
        table.add_row(group.name, str(group.scenarios), judged, success, reward)
    return table


def _passing(told: Report) -> Table:
    table = _table("k", "scenarios", "pass@k, any of k", "pass^k, all of k")
    for one in told.passing:
        any_of, all_of = estimate(one.any_of, as_share=True), estimate(one.all_of, as_share=True)
        table.add_row(str(one.k), str(one.scenarios), any_of, all_of)
    return table


def _causes(told: Report) -> Table:
    table = _table("failures by cause", "rollouts", "for example", "which means")
    for cause, keys in told.causes:
        table.add_row(cause, str(len(keys)), keys[0], MEANINGS[cause])
    return table


def _checkpoints(told: Report) -> Table:
    table = _table("checkpoints that failed most", "failed", "question")
    for one in told.checkpoints[:MOST_ROWS]:
        table.add_row(f"{one.scenario} {one.checkpoint} ({one.role})", f"{one.failed}/{one.judged}", one.question)
    return table


def _probes(told: Report) -> Table:
    table = _table("probes, which earn nothing", "rollouts", "holds, % [95 %]", "question")
    for one in told.probes[:MOST_GROUPS]:
        holds = estimate(one.holds, as_share=True)
        table.add_row(f"{one.environment} {one.probe}", str(one.rollouts), holds, one.question)
    return table


def _tools(told: Report) -> Table:
    table = _table("tools that refused", "errors", "calls")
    for one in [tool for tool in told.tools if tool.errors][:MOST_ROWS]:
        table.add_row(f"{one.environment} {one.tool}", str(one.errors), str(one.calls))
    return table


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        words = column in ("for example", "which means", "question", "value [95 %]")
        fold = column == "for example"
        justify = "left" if number == 0 or words else "right"
        table.add_column(column, justify=justify, overflow="fold" if fold else "ellipsis", no_wrap="[" in column)
    return table
