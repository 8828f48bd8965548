"""Units of weight, volume and length: 0.64 kg are 640 g, and 640 kg are not."""

from decimal import Decimal

_UNITS = {
    "weight": {
        "0.001": "mg milligram milligrams milligramm milligrammes",
        "1": "g gr gram grams gramm gramme grammes gramos",
        "1000": "kg kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos",
        "1000000": "t ton tons tonne tonnes tonnen toneladas",
    },
    "volume": {
        "0.001": "ml millilitre millilitres milliliter milliliters",
        "0.01": "cl centilitre centilitres centiliter centiliters",
        "1": "l litre litres liter liters litros",
    },
    "length": {
        "0.001": "mm millimetre millimetres millimeter millimeters",
        "0.01": "cm centimetre centimetres centimeter centimeters",
        "1": "m metre metres meter meters metros",
        "1000": "km kilometre kilometres kilometer kilometers kilometros",
    },
}
MEASURES = {
    word: (dimension, Decimal(factor))
    for dimension, factors in _UNITS.items()
    for factor, words in factors.items()
    for word in words.split()
}
"""Of each word for a unit: what it measures, and how many of the plain unit one is."""


def unit_in(words: list[str]) -> str:
    """The first word for a unit, or none. A short one (`m`, `kg`) is passed over: it may be something else."""
    return next((word for word in words if len(word) > 2 and word in MEASURES), "")


def factor_between(told: str, asked: str) -> Decimal:
    """What a number of one unit is to be multiplied by, to be one of another; 1 where either is no unit.

    Units of two dimensions have no factor: 0, which makes no number right.
    """
    if told not in MEASURES or asked not in MEASURES:
        return Decimal(1)
    (dimension, one), (other_dimension, other) = MEASURES[told], MEASURES[asked]
    return one / other if dimension == other_dimension else Decimal(0)
