"""Paraphrases: right and wrong answers in other words, in the optional `paraphrases.json`.

Their writers see the questions and the reference's answer, never the judge. Agents do not see the file.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from servers.bundle.description import Provenance
from servers.bundle.environment import Environment
from servers.bundle.files import text_if_there
from servers.errors import BundleError
from servers.records import Name, Record
from servers.validation import problems

PARAPHRASES_FILE = "paraphrases.json"
ENOUGH = 6
"""The wanted number of right paraphrases of a judged answer, and of wrong ones."""
MOST_TEXTS = 40
LONGEST_TEXT = 2_000
FORMS = {
    "amount": ("bare", "comma", "sign", "code", "words"),
    "count": ("words", "full"),
    "date": ("iso", "us", "dots", "long", "ordinal"),
    "time": ("clock12",),
    "name": ("upper", "plain"),
}
"""The forms of a value in a template, as in `{value|words}`, by the type of the fact."""
VALUE_HOLE = re.compile(r"\{(?P<which>value|other)(?:\|(?P<form>\w+))?\}")


class OtherWords(Record):
    """Right and wrong answers to the same question: whole ones, or templates with holes for the value."""

    right: tuple[str, ...] = Field(default=(), max_length=MOST_TEXTS)
    wrong: tuple[str, ...] = Field(default=(), max_length=MOST_TEXTS)

    @property
    def is_enough(self) -> bool:
        """True if there are as many as a certificate wants."""
        return min(len(self.right), len(self.wrong)) >= ENOUGH


class Paraphrases(Record):
    """Templates for what phrases ask to be told, by tool and value; whole last messages, by scenario."""

    tells: dict[str, dict[str, OtherWords]] = {}
    scenarios: dict[Name, OtherWords] = {}
    provenance: Provenance | None = None


def read_paraphrases(folder: Path) -> tuple[list[str], Paraphrases]:
    """Findings about the paraphrases of a bundle, and the paraphrases. Both are empty without the file."""
    path = folder / PARAPHRASES_FILE
    try:
        text = text_if_there(path)
        return [], Paraphrases.model_validate_json(text) if text is not None else Paraphrases()
    except BundleError as error:
        return [str(error)], Paraphrases()
    except ValidationError as error:
        return [f"{path}: {problem}" for problem in problems(error)], Paraphrases()


def paraphrase_findings(environment: Environment, scenarios: Collection[str]) -> list[str]:
    """All findings about the paraphrases of a bundle."""
    problems, found = read_paraphrases(environment.folder)
    path = environment.folder / PARAPHRASES_FILE
    unknown = [f"no tool named {tool!r}" for tool in sorted(found.tells.keys() - environment.tools.keys())]
    unknown += [f"no scenario {name!r}" for name in sorted(found.scenarios.keys() - set(scenarios))]
    return problems + [f"{path}: {problem}" for problem in (*unknown, *_problems_of(found))]


def _problems_of(paraphrases: Paraphrases) -> Iterator[str]:
    for tool, by_value in paraphrases.tells.items():
        for value, words in by_value.items():
            yield from (f"tells.{tool}.{value}.{problem}" for problem in template_problems(words))
    for name, words in paraphrases.scenarios.items():
        for text in (*words.right, *words.wrong):
            if not 0 < len(text) <= LONGEST_TEXT:
                yield f"scenarios.{name}: a text of {len(text)} characters; 1 to {LONGEST_TEXT:,} are possible"


def template_problems(words: OtherWords, kind: str | None = None) -> Iterator[str]:
    """Findings about templates, for a value of one type or of any."""
    forms = {form for one, all_of_it in FORMS.items() if kind in (None, one) for form in all_of_it}
    for role, template in [*(("right", one) for one in words.right), *(("wrong", one) for one in words.wrong)]:
        holes = list(VALUE_HOLE.finditer(template))
        if re.search(r"[{}]", VALUE_HOLE.sub("", template)):
            yield f"{role}: the holes are {{value}} and {{other}}, with a form as in {{value|words}}: {template!r}"
        unknown = sorted({hole["form"] for hole in holes if hole["form"]} - forms)
        if unknown:
            yield f"{role}: no form {unknown[0]!r}; there are {', '.join(sorted(forms))}: {template!r}"
        if role == "right" and "value" not in {hole["which"] for hole in holes}:
            yield f"right: does not tell the value: {template!r}"
        if role == "right" and "other" in {hole["which"] for hole in holes}:
            yield f"right: tells a wrong value: {template!r}"
        if not 0 < len(template) <= LONGEST_TEXT:
            yield f"{role}: a text of {len(template)} characters; 1 to {LONGEST_TEXT:,} are possible"
