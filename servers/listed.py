"""Optional files of a bundle that hold a JSON list of records: `rules.json`, `examples.json`."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from servers.errors import BundleError

LARGEST_LIST = 1024 * 1024
T = TypeVar("T")


def listed(path: Path, kind: TypeAdapter[tuple[T, ...]]) -> tuple[T, ...]:
    """The records of a file; none when it is not there.

    Raises:
        BundleError: the file cannot be read.
    """
    try:
        if path.stat().st_size > LARGEST_LIST:
            raise BundleError(f"{path}: larger than {LARGEST_LIST // 1024 // 1024} MiB")
        return kind.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"]) or "the whole"
        raise BundleError(f"{path}: {field}: {problem['msg']}") from None
