"""Which attributes of each class are compared."""

SAVED_CLASS = {"Beds": ["power", "beds"], "Tank": ["litres"]}
