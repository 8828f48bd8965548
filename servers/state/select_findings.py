"""SELECTs that could never run, found by compiling them against the schema. They are not run."""

import apsw
import apsw.ext

from servers.state.readonly_query import TOO_LARGE, TOO_MANY_NAMES, Reader, SelectOnly

NO_NAMES = frozenset[str]()


def select_finding(reader: Reader, sql: str, names: frozenset[str] = NO_NAMES) -> str | None:
    """Why a text is no SELECT over the environment's rows with these parameters, or None. It is compiled, not run."""
    connection = reader.connection
    connection.authorizer = authorizer = SelectOnly()
    try:
        compiled = apsw.ext.query_info(connection, sql)
        rest = apsw.ext.query_info(connection, compiled.query_remaining or "")
    except (apsw.Error, ValueError) as error:
        return _refusal(error, authorizer)
    finally:
        connection.authorizer = None
    if not compiled.description:
        return "does not run: there is no statement in it"
    if rest.description:
        return "does not run: one SELECT at a time"
    unknown = sorted({name or "?" for name in compiled.bindings_names} - names)
    if unknown:
        told = ", ".join(f":{name}" for name in unknown)
        return f"asks for {told}; " + ("only :answer is there" if names else "there are no parameters here")
    return None


def broken_queries(image: bytes, queries: dict[str, str]) -> list[tuple[str, str]]:
    """The queries that cannot run on an image, by their names, with the reason."""
    reader = Reader(image, image)
    try:
        return [(name, why) for name, sql in queries.items() if (why := select_finding(reader, sql)) is not None]
    finally:
        reader.close()


def _refusal(error: Exception, authorizer: SelectOnly) -> str:
    """Why SQLite did not compile a text."""
    if authorizer.has_too_many_names:
        return f"does not run: {TOO_MANY_NAMES}"
    if isinstance(error, apsw.NoMemError):
        return f"does not run: {TOO_LARGE}"
    if isinstance(error, apsw.AuthError):
        return f"only a SELECT over the environment's tables is allowed: {error}"
    return f"does not run: {error}"
