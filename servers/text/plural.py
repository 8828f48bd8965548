"""Plurals: 1 scenario, 2 scenarios."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun. `many` is the plural form, by default the noun with an s."""
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str = "") -> str:
    """The form of a noun (or a verb) that goes with a number."""
    return one if number == 1 else many or f"{one}s"
