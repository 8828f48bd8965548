"""A perturbation: how the tools of an instance differ from those of its environment. Written in one line.

`names,faults=0.1,seed=3` renames the tools by seed 3, and lets one call in ten fail once. The same line always gives
the same tools. Every text of this kind that crosses a wire is in its one canonical form.
"""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, WithJsonSchema

from servers.errors import RequestError
from servers.records import Record
from servers.validation import first_problem

SWITCHES = {
    "names": "every tool has another name",
    "arguments": "arguments have other names",
    "descriptions": "descriptions are reworded",
    "order": "tools and arguments come in another order",
    "fields": "results have more fields",
    "shape": "a result is the field `data` of an object",
}
NUMBERS = {
    "faults": "the share of calls that fail once, without an effect",
    "tools": "the number of tools from other environments, which are not open to the agent",
    "seed": "chooses among the names, orders and faults",
}
KNOBS = {**SWITCHES, **NUMBERS}
TOOL_NAME = r"[A-Za-z][A-Za-z0-9_]{0,63}"
RENAMED = re.compile(rf"{TOOL_NAME}={TOOL_NAME}")
"""An item that gives a tool a name: `find_rooms=search`."""
MOST_TOOLS = 100
MOST_FAULTS = 0.5
LONGEST = 4000
_ITEM = rf"\s*(({'|'.join(SWITCHES)}|({'|'.join(NUMBERS)})=[^,]*|{TOOL_NAME}={TOOL_NAME})\s*)?"
SHAPE = rf"^{_ITEM}(,{_ITEM})*$"
"""The items of a line as a schema can tell them. That each is there once, and which tools there are, it cannot."""


class Perturbation(Record):
    """The knobs. Everything off is the environment as it is."""

    names: bool = False
    arguments: bool = False
    descriptions: bool = False
    order: bool = False
    fields: bool = False
    shape: bool = False
    faults: float = Field(default=0.0, ge=0, le=MOST_FAULTS)
    tools: int = Field(default=0, ge=0, le=MOST_TOOLS)
    seed: int = Field(default=0, ge=0, le=2**31)
    renamed: dict[str, str] = {}
    """Names that tools get, by their own. They go before those of `names`."""

    def __str__(self) -> str:
        """The one line that says it. Empty if nothing is perturbed."""
        on = [name for name in SWITCHES if getattr(self, name)]
        given = [f"{name}={getattr(self, name):g}" for name in ("faults", "tools") if getattr(self, name)]
        renamed = [f"{own}={other}" for own, other in sorted(self.renamed.items())]
        seed = [f"seed={self.seed}"] if self.seed and (on or given or renamed) else []
        return ",".join([*on, *given, *renamed, *seed])


def perturbation_of(text: str) -> Perturbation:
    """The perturbation that a line says.

    Raises:
        RequestError: an item is no knob, has no such value, or is there twice.
    """
    if len(text) > LONGEST:
        raise RequestError(f"perturb: longer than {LONGEST} characters")
    given: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = item.partition("=")
        place = given if name in KNOBS else renamed
        if name in place:
            raise RequestError(f"perturb: {name} is there twice")
        if name in SWITCHES and not equals:
            given[name] = True
        elif name in NUMBERS and equals:
            given[name] = value
        elif name not in KNOBS and RENAMED.fullmatch(item):
            renamed[name] = value
        else:
            raise RequestError(f"perturb: {_why(name, item)}")
    try:
        return Perturbation.model_validate({**given, "renamed": renamed})
    except ValidationError as error:
        raise RequestError(f"perturb: {first_problem(error)}") from None


def _why(name: str, item: str) -> str:
    """What is wrong with an item."""
    if name in SWITCHES:
        return f"{name} is on or left out, and takes no value"
    if name in NUMBERS:
        return f"{name} takes a number: {name}={0.1 if name == 'faults' else 3}"
    return f"no knob {item!r}; there are {', '.join(KNOBS)}, and TOOL=NAME"


def _canonical(text: str) -> str:
    """The canonical form of a line. Raises ValueError, as validators do."""
    try:
        return str(perturbation_of(text))
    except RequestError as error:
        raise ValueError(str(error).removeprefix("perturb: ")) from None


PerturbLine = Annotated[
    str, AfterValidator(_canonical), WithJsonSchema({"type": "string", "pattern": SHAPE, "maxLength": LONGEST})
]
"""A perturbation in a record: a line, brought into its canonical form."""
