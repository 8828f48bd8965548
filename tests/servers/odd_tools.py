"""Tools that break every rule there is, as the text of a tools.py."""

ODD_TOOLS = '''
import ctypes
import json
import math
import os
import struct
import sys


def price(db: Database, *, id: str, cents: int) -> dict:
    """Set a price.

    Args:
        id: The thing.
        cents: The price.
    """
    db.run("UPDATE things SET cents = :cents WHERE id = :id", id=id, cents=cents)
    return {"now": db.now()}


def statement(db: Database, *, sql: str) -> dict:
    """Run a statement after a change.

    Args:
        sql: The statement.
    """
    db.run("UPDATE things SET cents = 7 WHERE id = 't1'")
    return {"touched": db.run(sql)}


def statement_swallowed(db: Database, *, sql: str) -> dict:
    """Run a statement after a change, and say nothing of what comes of it.

    Args:
        sql: The statement.
    """
    db.run("UPDATE things SET cents = 7 WHERE id = 't1'")
    try:
        db.run(sql)
    except Exception as error:
        raise ToolError(str(error))
    raise ToolError("it ran")


def ask(db: Database, *, sql: str) -> dict:
    """Ask for rows.

    Args:
        sql: The query.
    """
    return {"rows": db.all(sql)}


def sneak(db: Database) -> dict:
    """Write where none is seen to write."""
    getattr(db, "r" + "un")("UPDATE things SET cents = 7")
    return {}


def refuse(db: Database, *, text: str) -> dict:
    """Refuse after writing.

    Args:
        text: What to say.
    """
    db.run("UPDATE things SET cents = 7")
    raise ToolError(text)


def refuse_outside(db: Database) -> dict:
    """Refuse after the transaction has ended."""
    try:
        db.run("INSERT OR ROLLBACK INTO things (id, name) VALUES ('t1', 'again')")
    except Exception:
        db.run("UPDATE things SET cents = 7")
    raise ToolError("refused")


def carry_on_outside(db: Database) -> dict:
    """Go on after the transaction has ended."""
    try:
        db.run("INSERT OR ROLLBACK INTO things (id, name) VALUES ('t1', 'again')")
    except Exception:
        db.run("UPDATE things SET cents = 7")
    return {}


def fail(db: Database) -> dict:
    """Fail after writing."""
    db.run("UPDATE things SET cents = 7")
    raise OSError("nothing at /srv/secret/place")


def leave(db: Database) -> dict:
    """Leave."""
    db.run("UPDATE things SET cents = 7")
    sys.exit(3)


def leave_at_once(db: Database) -> dict:
    """Leave without a word."""
    db.run("UPDATE things SET cents = 7")
    os._exit(3)


def kill_itself(db: Database) -> dict:
    """End with a signal."""
    db.run("UPDATE things SET cents = 7")
    ctypes.string_at(0)
    return {}


def hang(db: Database) -> dict:
    """Never end."""
    db.run("UPDATE things SET cents = 7")
    while True:
        pass


def hang_in_sql(db: Database) -> dict:
    """Never end, in SQL."""
    sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    return {"rows": db.all(sql)}


def hog(db: Database) -> dict:
    """Take all memory."""
    return {"text": str(bytearray(8 * 1024**3))}


def recurse(db: Database) -> dict:
    """Call itself."""
    return recurse(db)


def give(db: Database, *, what: str) -> dict:
    """Return something.

    Args:
        what: Which.
    """
    if what in ("deep", "deeper"):
        deep = {}
        for _ in range(150 if what == "deep" else 100_000):
            deep = {"a": deep}
        return deep
    if what == "much":
        return {"text": "x" * 100_000_000}
    loop = {}
    loop["itself"] = loop
    return {
        "nan": {"value": math.nan},
        "infinity": {"value": math.inf},
        "a list": [1, 2],
        "nothing": None,
        "text": "ok",
        "bytes": {"value": b"1"},
        "a set": {"value": {1, 2}},
        "an object": {"value": object()},
        "a surrogate": {"value": "\\ud800"},
        "a loop": loop,
    }[what]


def order_of_a_set(db: Database) -> dict:
    """Show the order of a set."""
    return {"names": list({f"name {number}" for number in range(20)})}


def order_of_a_set_with_none(db: Database) -> dict:
    """Show the order of a set whose members hold nothing."""
    return {"pairs": [list(pair) for pair in {(None, number) for number in range(20)}]}


def tell_places(db: Database) -> dict:
    """Tell where objects are in memory."""
    return {"function": f"{tell_places}", "inner": str(lambda: 1), "note": "a fault at 0x7f44be66f360 in a driver"}


def refuse_with_a_place(db: Database) -> dict:
    """Refuse, and tell where an object is in memory."""
    raise ToolError(f"{db} has no room")


def note_after_the_last(db: Database) -> dict:
    """Write the last row that there can be, and more rows."""
    db.run("INSERT INTO log (id, what) VALUES (9223372036854775807, 'last')")
    for what in ("a", "b", "c"):
        db.run("INSERT INTO log (what) VALUES (:what)", what=what)
    return {"ids": [row["id"] for row in db.all("SELECT id FROM log ORDER BY id")]}


def print_much(db: Database) -> dict:
    """Print."""
    print("x" * 1_000_000)
    sys.stderr.write("x" * 1_000_000)
    return {}


def write_file(db: Database, *, path: str) -> dict:
    """Write a file.

    Args:
        path: Where.
    """
    with open(path, "w") as file:
        file.write("x")
    return {}


def speak(db: Database, *, frame: str) -> dict:
    """Write to the guest's own socket.

    Args:
        frame: What.
    """
    db.run("UPDATE things SET cents = 7")

    serve = sys._getframe()
    while "connection" not in serve.f_locals:
        serve = serve.f_back
    nonce = serve.f_locals["head"]["nonce"]

    def framed(head, *parts):
        text = json.dumps({"nonce": nonce, **head, "sizes": [len(part) for part in parts]})
        text = text.replace('"endless"', "1e999").encode()
        return struct.pack("!II", len(text), sum(map(len, parts))) + text + b"".join(parts)

    ok = {"outcome": "ok", "micros": 1}
    said = {
        "junk": b"HTTP/1.1 200 OK\\r\\n\\r\\n",
        "a little": b"\\0\\0\\0",
        "endless": struct.pack("!II", 2**32 - 1, 2**32 - 1),
        "no JSON": struct.pack("!II", 4, 0) + b"junk",
        "a list": struct.pack("!II", 2, 0) + b"[]",
        "wrong sizes": struct.pack("!II", 13, 0) + b'{"sizes":[1]}',
        "deep": struct.pack("!II", 100_000, 0) + b"[" * 100_000,
        "nothing": framed({}),
        "no parts": framed(ok),
        "an odd outcome": framed({"outcome": ["ok"], "micros": 1}, b"{}", b""),
        "an unknown outcome": framed({"outcome": "died", "micros": 1}, b"{}", b""),
        "odd micros": framed({"outcome": "ok", "micros": "many"}, b"{}", b""),
        "endless micros": framed({"outcome": "ok", "micros": "endless"}, b"{}", b""),
        "another's nonce": framed({**ok, "nonce": nonce + 1}, b"{}", b""),
        "many micros": framed({"outcome": "ok", "micros": 10**30}, b"{}", b""),
        "negative micros": framed({"outcome": "ok", "micros": -(10**30)}, b"{}", b""),
        "no text": framed(ok, b"\\xff", b""),
        "a list as a result": framed(ok, b"[]", b""),
        "no number": framed(ok, b'{"a": NaN}', b""),
        "a surrogate": framed(ok, b'{"a": "\\\\ud800"}', b""),
        "much": framed(ok, b'{"a": "' + b"x" * 1_000_000 + b'"}', b""),
        "junk for changes": framed(ok, b"{}", b"junk"),
        "many parts": framed(ok, b"{}", *([b""] * 20)),
        "a long head": framed({**ok, "and": "x" * 20_000}, b"{}", b""),
        "need": framed({"need": "instance"}),
        "a hostile change": framed(ok, b"{}", bytes.fromhex("5402010074686e677300170003") + b"xyz"),
        "two answers": framed(ok, b"{}", b"") * 2,
        "lies": framed(ok, b'{"lies": true}', b""),
    }[frame]
    serve.f_locals["connection"].sendall(said)
    while True:
        pass
'''
