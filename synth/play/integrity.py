"""Whether all rows of a state keep to what the schema says of every row."""

from servers.state.readonly_query import Reader


def broken_rows(reader: Reader) -> list[str]:
    """Rows that point nowhere, and constraints that do not hold, in words; of each kind once."""
    orphans = reader.connection.execute("PRAGMA main.foreign_key_check").fetchall()
    found = [f"left a row of {table} that points to no row of {parent}" for table, _, parent, _ in orphans]
    problems = reader.connection.execute("PRAGMA main.integrity_check").fetchall()
    found += [f"left a database that says: {problem}" for (problem,) in problems if problem != "ok"]
    return list(dict.fromkeys(found))
