"""Who mistypes a name is told the one that was meant; long lists are for those who ask for them."""

from pathlib import Path

import pytest

from servers.cli.command_options import folder_of
from servers.errors import NotFound
from servers.text.wording import counted, suggestion

NAMES = ["hotel_bookings", "library_loans", "parcel_room", "blood_bank", "car_rental", "food_bank"]


@pytest.mark.parametrize(
    ("wanted", "names", "told"),
    [
        ("libary_loans", NAMES, "did you mean 'library_loans'?"),
        ("Library_Loans", NAMES, "did you mean 'library_loans'?"),
        ("hotel", NAMES, "did you mean 'hotel_bookings'?"),
        ("zoo", NAMES, "`farm environments` lists those that there are"),
        ("", NAMES, "`farm environments` lists those that there are"),
        ("zoo", NAMES[:2], "there are: hotel_bookings, library_loans"),
        ("zoo", [], "there are none"),
        ("x" * 1_000_000, [f"x{number}" for number in range(10_000)], "`farm environments` lists those that there are"),
    ],
)
def test_what_is_said_to_somebody_who_asked_for_what_is_not_there(wanted: str, names: list[str], told: str) -> None:
    assert suggestion(wanted, names, lister="farm environments") == told


def test_a_noun_goes_with_its_number() -> None:
    assert [counted(number, "row") for number in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


def test_a_bundle_in_a_folder_without_any_is_told_so() -> None:
    with pytest.raises(NotFound, match=r"^nowhere/shop: no such bundle; there is none in nowhere$"):
        folder_of(Path("nowhere/shop"))
