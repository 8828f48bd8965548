"""TOML files that a user names: what would take long to parse is refused, and what is ordinary is read."""

from pathlib import Path

import pytest

from servers.files.toml_file import LARGEST_TOML, MOST_PARTS, TomlError, toml_named

LONG = ["a"] * 50_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (".".join(LONG) + " = 1", "a key has at most 32 parts"),
        (".".join(f'"{part} b"' for part in LONG) + " = 1", "a key has at most 32 parts"),
        (" . ".join(f"'{part}'" for part in LONG) + " = 1", "a key has at most 32 parts"),
        ("[" + ".".join(LONG) + "]", "a key has at most 32 parts"),
        ("x = {" + ".".join(LONG) + " = 1}", "a key has at most 32 parts"),
        ("a = " + "[" * 50_000, "nested too deep"),
        ("a = " + "{b = " * 50_000, "nested too deep"),
        ('a = "' + '\\"' * 400_000, "Unterminated string"),
        ('a = """' + '\\"""' * 200_000, "Unterminated string"),
        ("w" * 1_000_000, "Expected '='"),
    ],
    ids=[
        *("a long key", "in quotes", "with blanks", "a table", "an inline table"),
        *("lists", "tables", "an open string", "an open text", "a word"),
    ],
)
def test_what_is_costly_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "one.toml").write_text(text)
    with pytest.raises(TomlError, match=why):
        toml_named(tmp_path / "one.toml")


def test_texts_may_have_many_dots(tmp_path: Path) -> None:
    dotted = ".".join(["word"] * 100)
    quoted = f'a = "{dotted}"\nb = """\n{dotted} \\"""" # {dotted}\nc = \'{dotted}\'\nd = 1.5 # {dotted}\n'
    (tmp_path / "one.toml").write_text(f"{quoted}[{'.'.join(['e'] * MOST_PARTS)}]\n")
    read = toml_named(tmp_path / "one.toml")
    assert (read["a"], read["b"], read["c"], read["d"]) == (dotted, f'{dotted} "', dotted, 1.5)


def test_a_file_has_a_size(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("#" * (LARGEST_TOML + 1))
    with pytest.raises(OSError, match="larger than 1 MiB"):
        toml_named(tmp_path / "one.toml")
