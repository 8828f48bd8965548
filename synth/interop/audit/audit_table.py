"""The audit as tables for people: sums, the scenarios whose checks say least, and what wrong agents earn."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.table import Table

from synth.interop.audit.audit import CheckAudit, EnvironmentAudit, ScenarioAudit, ToolAudit

WEAKEST = ("environment", "scenario", "idle reward", "checks", "true", "raise", "never reached")
COLUMNS = ("environment", "work", "throw", "checks", "true", "raise", "reached", "idle", "witness")
CAPTION = (
    "work, throw: tools that succeed, or raise, in some call; true, raise: checks at the start; "
    "reached: checks that some state satisfies; idle: scenarios that reward doing nothing; "
    "witness: scenarios for which calls were found that earn 1"
)


def table_of(audits: list[EnvironmentAudit]) -> Table:
    """One line for each environment."""
    table = Table(*COLUMNS, caption=CAPTION, box=SIMPLE, pad_edge=False, padding=0)
    for audit in audits:
        checks = checks_of(audit.scenarios)
        whole = len(audit.scenarios)
        table.add_row(
            audit.id,
            f"{sum(tool.succeeded > 0 for tool in audit.tools)}/{sum(tool.tries > 0 for tool in audit.tools)}",
            str(sum(tool.broke > 0 for tool in audit.tools)),
            str(len(checks)),
            str(sum(check.at_start for check in checks)),
            str(sum(bool(check.error_at_start) for check in checks)),
            str(sum(check.reached for check in checks)),
            f"{sum(one.reward_for_nothing > 0 for one in audit.scenarios)}/{whole}",
            f"{sum(one.witness is not None for one in audit.scenarios)}/{whole}",
        )
    return table


def weakest(audits: list[EnvironmentAudit], most: int) -> Table | None:
    """The scenarios whose checks say least, the worst first: those that reward doing nothing, then the unreachable."""
    ranked = sorted(
        ((audit.id, one) for audit in audits for one in audit.scenarios if one.checks),
        key=lambda pair: (pair[1].reward_for_nothing, _out_of_reach(pair[1]), pair[0], pair[1].id),
        reverse=True,
    )
    shown = [(name, one) for name, one in ranked if one.reward_for_nothing or _out_of_reach(one)][:most]
    if not shown:
        return None
    table = Table(*WEAKEST, title="The scenarios whose checks say least", box=SIMPLE, pad_edge=False, padding=0)
    for name, one in shown:
        raising = sum(bool(check.error_at_start) for check in one.checks)
        true = sum(check.at_start for check in one.checks)
        out_of_reach = sum(not check.reached for check in one.checks)
        numbers = (len(one.checks), true, raising, out_of_reach)
        table.add_row(name, one.id, f"{one.reward_for_nothing:.2f}", *map(str, numbers))
    return table


def _out_of_reach(scenario: ScenarioAudit) -> float:
    """The share of checks that no state was found to satisfy."""
    return sum(not check.reached for check in scenario.checks) / len(scenario.checks)


def table_of_agents(audits: Sequence[EnvironmentAudit]) -> Table | None:
    """The rewards by agent: the number of scenarios where it can be wrong, its mean, and how often it earns 1."""
    earned = [one.wrong_agents for audit in audits for one in audit.scenarios if one.wrong_agents]
    if not earned:
        return None
    table = Table("wrong agent", "scenarios", "earned", "all", box=SIMPLE, pad_edge=False, padding=0)
    for agent in dict.fromkeys(agent for one in earned for agent in one):
        rewards = [one[agent] for one in earned if agent in one]
        everything = sum(reward >= 1 for reward in rewards)
        table.add_row(agent, str(len(rewards)), f"{sum(rewards) / len(rewards):.2f}", str(everything))
    return table


def checks_of(scenarios: tuple[ScenarioAudit, ...]) -> list[CheckAudit]:
    """The checks of all scenarios."""
    return [check for scenario in scenarios for check in scenario.checks]


def sums_of(audits: list[EnvironmentAudit]) -> list[str]:
    """The totals, and each fault by name."""
    there = [(audit.id, tool) for audit in audits for tool in audit.tools]
    tools = [(name, tool) for name, tool in there if tool.tries]
    scenarios = [(audit.id, scenario) for audit in audits for scenario in audit.scenarios]
    checks = checks_of(tuple(scenario for _, scenario in scenarios))
    idle = [scenario.reward_for_nothing for _, scenario in scenarios if scenario.reward_for_nothing > 0]
    lines = [
        f"environments that load and pass `farm check`: {sum(audit.loads for audit in audits)} of {len(audits)}",
        f"tools that were tried: {_share(len(tools), len(there))}",
        f"tools that some call succeeded with: {_share(sum(tool.succeeded > 0 for _, tool in tools), len(tools))}",
        f"tools that threw in some call: {_share(sum(tool.broke > 0 for _, tool in tools), len(tools))}",
        f"tools that changed the state and then said they failed: {_count(tools, 'changed_when_refused')}",
        f"tools that are said to read and changed the state: {_count(tools, 'changed_when_reading')}",
        f"tools whose answer or effect follows the clock or chance: {sum(tool.draws for _, tool in tools)}",
        f"tools that do not repeat on a frozen clock with fixed chances: {sum(not tool.repeats for _, tool in tools)}",
        f"checks that hold before anybody acts: {_share(sum(check.at_start for check in checks), len(checks))}",
        f"checks that raise at the start: {_share(sum(bool(c.error_at_start) for c in checks), len(checks))}",
        f"checks that some state was found to satisfy: {_share(sum(c.reached for c in checks), len(checks))}",
        f"scenarios that reward doing nothing: {_share(len(idle), len(scenarios))}"
        + (f", with {sum(idle) / len(idle):.2f} on average and at most {max(idle):.2f}" if idle else ""),
        "scenarios with a witness (calls that earn 1, found by search): "
        + _share(sum(one.witness is not None for _, one in scenarios), len(scenarios)),
    ]
    lines += [f"{audit.id}: {finding}" for audit in audits for finding in audit.findings]
    lines += [f"{name}: {scenario.id}: {scenario.problem}" for name, scenario in scenarios if scenario.problem]
    lines += [f"{name}: {tool.name}: never succeeded: {_why(tool)}" for name, tool in tools if not tool.succeeded]
    lines += [
        f"{name}: {tool.name}: throws in {tool.broke} of {tool.tries} calls: {tool.error}"
        for name, tool in tools
        if tool.succeeded and tool.broke
    ]
    lines += [
        f"{name}: {scenario.id}: {check.id} raises at the start: {check.error_at_start}"
        for name, scenario in scenarios
        for check in scenario.checks
        if check.error_at_start
    ]
    return lines


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "0 of 0"


def _count(tools: list[tuple[str, ToolAudit]], name: str) -> str:
    found = [f"{environment}.{tool.name}" for environment, tool in tools if getattr(tool, name)]
    return f"{len(found)}" + (f" ({', '.join(found)})" if found else "")


def _why(tool: ToolAudit) -> str:
    return tool.error or tool.refusal
