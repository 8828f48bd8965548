"""Common arguments and options of commands: bundles, libraries, JSON, endpoints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from servers.bundle.card import bundles_in
from servers.bundle.files import PACKAGED, SERVED_FILES
from servers.errors import NotFound, RequestError
from servers.perturb.perturbation import perturbation_of
from servers.records import checked_url
from servers.scenario.difficulty import LEVELS
from servers.text.wording import suggestion


def perturbed(text: str | None) -> str | None:
    """A perturbation in its canonical form. Raises RequestError."""
    return None if text is None else str(perturbation_of(text))


Bundle = Annotated[Path, typer.Argument(help="A bundle's folder, or the id of one of the farm's own environments.")]
Bundles = Annotated[list[Path], typer.Argument(help="Bundles' folders, folders of them, or ids of the farm's own.")]
Shelves = Annotated[list[Path] | None, typer.Option("--library", help="Folders of bundles, beside the farm's own.")]
PerturbOption = Annotated[
    str | None,
    typer.Option("--perturb", callback=perturbed, help="How the tools differ: names,arguments,faults=0.1."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

NO_BUNDLE = "no bundle: it has no environment.json"


def shelves(given: list[Path] | None, option: str = "--library") -> list[Path]:
    """The folders of bundles that an option names.

    Raises:
        RequestError: one does not exist, or is itself a bundle.
    """
    for folder in given or []:
        if not folder.is_dir():
            raise RequestError(f"{option} {folder}: no such folder")
        if (folder / "environment.json").exists():
            parent = folder.resolve().parent
            raise RequestError(f"{option} {folder}: is a bundle; give the folder that it lies in: {option} {parent}")
    return given or []


def folder_of(bundle: Path) -> Path:
    """The folder of a bundle, by its path or by the id of one of the farm's own.

    Raises:
        NotFound: there is no such folder.
    """
    for folder in (bundle, PACKAGED / bundle):
        if folder.is_dir():
            return folder.resolve()
    if bundle.is_file():
        raise NotFound(f"{bundle}: is a file; a bundle is a folder")
    near = sorted(found.parent.name for found in bundle.parent.glob("*/environment.json"))
    own = [] if len(bundle.parts) > 1 else list(bundles_in([PACKAGED]))
    if not near and not own:
        raise NotFound(f"{bundle}: no such bundle; there is none in {bundle.parent}")
    found = suggestion(bundle.name, [*near, *own], lister="farm environments")
    raise NotFound(f"{bundle}: no such bundle; {found}")


def folders_of(bundles: Sequence[Path]) -> list[Path]:
    """The folders of bundles, found like `folder_of`. A folder of bundles stands for all of them.

    Raises:
        NotFound: one does not exist, or has nothing of a bundle.
    """
    return [one for bundle in bundles for one in _bundles_in(folder_of(bundle))]


def _bundles_in(folder: Path) -> list[Path]:
    """The bundles in a folder, or the folder itself if it is one, also one that lacks files."""
    if (folder / "environment.json").exists():
        return [folder]
    found = sorted(path.parent for path in folder.glob("*/environment.json"))
    if not found and not any((folder / name).exists() for name in SERVED_FILES):
        raise NotFound(f"{folder.name or folder}: {NO_BUNDLE}; `farm new NAME` makes one")
    return found or [folder]


def bundle_of(bundle: Path) -> Path:
    """The folder of a bundle to be used, without a check of its contents.

    Raises:
        NotFound: there is no such folder, or it holds no bundle.
    """
    folder = folder_of(bundle)
    if not (folder / "environment.json").is_file():
        raise NotFound(f"{bundle}: {NO_BUNDLE}")
    return folder


def well_formed(_: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The callback of an option for an endpoint's URL."""
    if value in (None, parameter.default):
        return value
    try:
        return checked_url(value)
    except ValueError as error:
        raise RequestError(f"{parameter.opts[0]}: {error}") from None


BaseUrl = Annotated[
    str, typer.Option(envvar="OPENAI_BASE_URL", callback=well_formed, help="An OpenAI-compatible endpoint.")
]
"""A command's option for the endpoint. Its default is `OPENAI`."""


def levels_in(text: str | None) -> frozenset[int]:
    """The levels of an option: `4`, or `3..5`. Empty without it.

    Raises:
        RequestError: it names none.
    """
    if text is None:
        return frozenset()
    low, _, high = text.partition("..")
    names = [str(level) for level in LEVELS]
    if low not in names or (high or low) not in names or low > (high or low):
        raise RequestError(f"--level {text!r}: say a level from {LEVELS[0]} to {LEVELS[-1]}, or two of them, as 3..5")
    return frozenset(range(int(low), int(high or low) + 1))
