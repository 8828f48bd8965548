"""The tables of docs/reference/library.md, made of the files. `python -m tests.library_tables` writes them."""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import floor
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from servers.bundle_library import OWN_LIBRARY
from servers.scenario.difficulty import HARD_LEVEL, Difficulty

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "library.md"
CHANGELOG = ROOT / "CHANGELOG.md"
Document = dict[str, Any]
"""A file of a bundle, or a line of one. It is read as it stands, since to check the library takes long."""
Row = Iterable[object]
ORIGINS = {
    "hard": "filled from [recipes](recipes.md)",
    "back": "walks that a program found, each one person's one matter",
    "fwd": "*proposed* by a writer",
    "pair": "filled from [pairs](recipes.md#pairs) of recipes, over two environments",
    "conversation": "*conversations* made of walks and of written ones",
    "EnvScaler": "scenarios of EnvScaler, with checks in SQL",
    "hand": "written by hand",
}


class Bundle:
    """One environment of the library."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name

    def document(self, name: str) -> Document:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    @cached_property
    def scenarios(self) -> list[Document]:
        lines = (self.folder / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line]

    @cached_property
    def source(self) -> str:
        return self.document("environment.json")["provenance"]["source"]

    @property
    def rewritten_from(self) -> str | None:
        """The environment of EnvScaler that it says again."""
        return self.source.rpartition(" ")[2] if self.source.startswith("rewritten from EnvScaler") else None

    @property
    def made(self) -> str:
        if self.source == "hand-written":
            return "by hand"
        return f"from `{self.rewritten_from}`" if self.rewritten_from else "by a writer"


class Library(NamedTuple):
    """All environments of the library."""

    bundles: list[Bundle]

    @property
    def scenarios(self) -> Iterator[Document]:
        for bundle in self.bundles:
            yield from bundle.scenarios

    def environments(self) -> str:
        head = "environment|made|tools|tables|rules shown|proof|scenarios|calls of the reference|least kill score"
        return table(f"{head}|leak of a scenario", (environment(bundle) for bundle in self.bundles))

    def rewritten(self) -> str:
        twins = [(bundle, bundle.document("twin.json")) for bundle in self.bundles if bundle.rewritten_from]
        head = "environment|rewritten from|calls compared|differences declared|of its scenarios|from recipes|walks"
        return table(head, (rewrite(bundle, twin) for bundle, twin in twins))

    def origins(self) -> str:
        found = Counter(origin(scenario) for scenario in self.scenarios)
        return table("origin|scenarios", ((text, found[kind]) for kind, text in ORIGINS.items()))

    def pairs(self) -> str:
        found: dict[tuple[str, str], list[Document]] = defaultdict(list)
        for bundle in self.bundles:
            for scenario in bundle.scenarios:
                if second := scenario.get("second"):
                    found[bundle.name, second["environment"]].append(scenario)
        head = "environments|scenarios|calls of the reference|mutants|that pass"
        return table(
            head,
            (
                (f"`{one}`, `{other}`", len(their), calls(their), f"{mutants(their):,}", passing(their))
                for (one, other), their in sorted(found.items())
            ),
        )

    def kill_scores(self) -> str:
        scores = [kill_score(scenario) for scenario in self.scenarios]
        bands = {"1.00": (1, 2.0), "0.95 to 0.99": (0.95, 1), "0.90 to 0.94": (0.9, 0.95), "less": (0, 0.9)}
        rows = ((name, sum(least <= score < most for score in scores)) for name, (least, most) in bands.items())
        return table("kill score|scenarios", ((name, f"{count:,}") for name, count in rows if count or name != "less"))

    def levels(self) -> str:
        found = Counter(level(scenario) for scenario in self.scenarios)
        rows = sorted((one, count) for one, count in found.items() if one is not None)
        return table("level|scenarios", [*rows, *([("none", found[None])] if found[None] else [])])

    def company(self) -> str:
        earned: dict[str, list[float]] = defaultdict(list)
        for scenario in self.scenarios:
            for agent, reward in scenario["certificate"]["company"].items():
                earned[agent].append(reward)
        rows = sorted(earned.items(), key=lambda row: (-round(mean(row[1]), 2), row[0]))
        return table(
            "wrong agent|scenarios|earned|all",
            ((agent, f"{len(all_):,}", f"{mean(all_):.2f}", sum(one >= 1 for one in all_)) for agent, all_ in rows),
        )

    def totals(self) -> str:
        every = list(self.scenarios)
        return (
            f"\nThe library has {len(self.bundles)} environments and {len(every):,} scenarios. "
            f"{mutants(every) - passing(every):,} of {mutants(every):,} mutants fail.\n"
        )

    def size(self) -> str:
        every = list(self.scenarios)
        hard = sum((level(scenario) or 0) >= HARD_LEVEL for scenario in every)
        recipes = sum(origin(scenario) == "hard" for scenario in every)
        return (
            f"{len(self.bundles)} environments and {len(every):,} scenarios. "
            f"{recipes:,} come from recipes, and {hard:,} are of level 4 or 5."
        )


def environment(bundle: Bundle) -> Row:
    environment_file, proof = bundle.document("environment.json"), bundle.document("proof.json")
    tables = len(re.findall(r"^CREATE TABLE", (bundle.folder / "schema.sql").read_text(), re.MULTILINE | re.IGNORECASE))
    checks, alone = proof["rules"].values(), [one for one in bundle.scenarios if "second" not in one]
    held = [rule for rule in checks if rule["holder"] != "agent"]
    return (
        f"`{bundle.name}`",
        bundle.made,
        len(environment_file["tools"]),
        tables,
        f"{sum(rule['shown'] for rule in held)} of {len(held)}",
        f"{proof['score']:.1f}",
        len(bundle.scenarios),
        calls(alone),
        f"{floor(100 * min(map(kill_score, bundle.scenarios))) / 100:.2f}",
        f"{mean(map(leak, alone)):.1f}",
    )


def rewrite(bundle: Bundle, twin: Document) -> Row:
    found = Counter(origin(scenario) for scenario in bundle.scenarios)
    compared = re.search(r"In (\d+) calls", bundle.document("environment.json")["provenance"]["notes"])
    return (
        f"`{bundle.name}`",
        f"`{bundle.rewritten_from}`",
        f"{int(compared[1]):,}" if compared else "",
        len(twin["differences"]),
        found["EnvScaler"],
        found["hard"],
        found["back"],
    )


def origin(scenario: Document) -> str:
    source = scenario.get("provenance", {}).get("source", "")
    if "persona" in scenario and source:
        return "conversation"
    kind = scenario["id"].partition("_")[0].rstrip("0123456789")
    return "EnvScaler" if kind == "task" else kind if kind in ORIGINS else "hand"


def calls(scenarios: list[Document]) -> str:
    lengths = [len(one["solution"]["calls"]) for one in scenarios]
    return f"{min(lengths)} to {max(lengths)}, median {median(lengths):g}"


def mutants(scenarios: list[Document]) -> int:
    return sum(one["certificate"]["mutants"] for one in scenarios)


def passing(scenarios: list[Document]) -> int:
    return mutants(scenarios) - sum(one["certificate"]["killed"] for one in scenarios)


def kill_score(scenario: Document) -> float:
    certificate = scenario["certificate"]
    return certificate["killed"] / certificate["mutants"] if certificate["mutants"] else 1.0


def leak(scenario: Document) -> float:
    """What wrong agents earn in it, added up."""
    return sum(scenario["certificate"]["company"].values())


def level(scenario: Document) -> int | None:
    return Difficulty.model_validate(scenario["certificate"]["difficulty"]).level


def table(head: str, rows: Iterable[Row]) -> str:
    names = head.split("|")
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def library() -> Library:
    return Library([Bundle(path.parent) for path in sorted(OWN_LIBRARY.glob("*/environment.json"))])


TABLES: dict[str, Callable[[Library], str]] = {
    "environments": Library.environments,
    "origins": Library.origins,
    "kill scores": Library.kill_scores,
    "levels": Library.levels,
    "pairs": Library.pairs,
    "rewritten": Library.rewritten,
    "wrong agents": Library.company,
    "totals": Library.totals,
    "size": Library.size,
}
MARKED = re.compile(r"(<!-- made: ([a-z ]+) -->)(.*?)(<!-- end -->)", re.DOTALL)


def written(page: str, of: Library) -> str:
    """A page with its tables made anew. Each stands between two comments, and the first names it."""
    return MARKED.sub(lambda found: found[1] + TABLES[found[2]](of) + found[4], page)


def main() -> None:
    of = library()
    for path in (PAGE, CHANGELOG):
        before = path.read_text(encoding="utf-8")
        after = written(before, of)
        path.write_text(after, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}: {'as it was' if before == after else 'written anew'}\n")


if __name__ == "__main__":
    main()
