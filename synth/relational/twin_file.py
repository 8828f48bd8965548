"""The file `twin.json` of a rewritten bundle: what it was written from, how its rows correspond, what differs."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from servers.bundle.environment import Environment
from servers.errors import BundleError, NotFound
from servers.files.named_file import bytes_named
from servers.files.trouble import trouble
from servers.records import Record
from servers.validation import first_problem
from synth.llm.writer import digest_of

TWIN_FILE = "twin.json"
DifferenceKind = Literal["refuses", "words", "fault", "order"]


class MappedAttribute(Record):
    """One attribute of the imported object, as a SELECT of `key` and `value` over the rewritten rows.

    `value` is JSON. The key of an attribute that is no container is ''.
    """

    attribute: str
    sql: str = Field(min_length=1)


class DeclaredDifference(Record):
    """A kind of call to which the rewritten tool answers otherwise.

    `refuses`: it refuses, and the imported tool succeeds. `words`: both refuse, in other words. `fault`: it refuses,
    and the imported tool raises an exception. `order`: both succeed, and lists come in another order.
    `says` are words of the rewritten tool's refusal, and empty for `order`.
    """

    tool: str
    kind: DifferenceKind
    says: str
    why: str = Field(min_length=10)


class ToolAgreement(Record):
    """Calls of one tool in which both agreed, by their outcome, and those with a declared difference."""

    ok: int = 0
    refused: int = 0
    differed: int = 0


class EquivalenceShown(Record):
    """The figures of a comparison. `differences` are the times that each declared one was seen, in their order."""

    calls: int
    states: int
    starts: int
    tools: dict[str, ToolAgreement]
    differences: tuple[int, ...]


class Twin(Record):
    """A rewritten bundle and its imported one."""

    imported: str
    source: str
    digest: str
    loading_sql: str
    state: tuple[MappedAttribute, ...]
    differences: tuple[DeclaredDifference, ...] = ()
    shown: EquivalenceShown | None = None


def imported_digest(environment: Environment) -> str:
    """A digest of what an imported environment does. The date of its import is no part of it."""
    return digest_of([environment.schema, environment.seed, environment.source])


def twin_of(folder: Path) -> Twin:
    """The twin file of a bundle.

    Raises:
        NotFound: it has none.
        BundleError: it cannot be read.
    """
    path = folder / TWIN_FILE
    try:
        return Twin.model_validate_json(bytes_named(path))
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file; `farm synth run --from` writes it with the bundle") from None
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {trouble(error)}") from None
    except ValidationError as error:
        raise BundleError(f"{path}: {first_problem(error)}") from None
