"""Names and values as SQL."""


def quoted(name: str) -> str:
    """An identifier as SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_literal(value: str | int | float | bytes | None) -> str:
    """A value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else repr(value)
