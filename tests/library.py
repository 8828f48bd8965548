"""Checks of the library: the default run makes them of a sample, `pytest -m library` of all other environments."""

import pytest

from servers.bundle_library import OWN_LIBRARY, Library

SAMPLE = ("library_loans", "parcel_room")
"""One written by hand, and the smallest that a model wrote."""


def of_each_environment() -> pytest.MarkDecorator:
    """Call a test with the `name` of each environment of the library."""
    names = Library([OWN_LIBRARY]).ids()
    marks = {name: () if name in SAMPLE else (pytest.mark.library,) for name in names}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks[name]) for name in names])
