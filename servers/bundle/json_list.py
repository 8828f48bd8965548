"""Optional files of a bundle that hold a JSON list of records: `rules.json`, `examples.json`."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from servers.bundle.files import text_if_there
from servers.errors import BundleError
from servers.validation import first_problem

T = TypeVar("T")


def listed(path: Path, kind: TypeAdapter[tuple[T, ...]]) -> tuple[T, ...]:
    """The records of a file; none when it is not there.

    Raises:
        BundleError: the file cannot be read.
    """
    try:
        text = text_if_there(path)
        return () if text is None else kind.validate_json(text)
    except ValidationError as error:
        raise BundleError(f"{path}: {first_problem(error)}") from None
