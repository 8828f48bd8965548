"""The pages are read quickly: sentences are short, few are long. Their tables of the library are those of its files."""

from pathlib import Path

import pytest

from tests.library_tables import CHANGELOG, MARKED, PAGE, TABLES, library, written
from tests.prose import PAGES, ROOT, cells, measure, sentences, words


def test_all_pages_together_keep_the_aims() -> None:
    every = measure(PAGES)
    assert every.words_a_sentence <= 15
    assert every.percent_long < 4
    assert every.semicolons_per_100 < 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_is_hard_to_read(page: Path) -> None:
    one = measure([page])
    assert one.words_a_sentence <= 17
    assert one.long <= max(1, 0.08 * one.sentences)
    assert one.semicolons <= max(1, 0.08 * one.sentences)


def test_what_is_measured_is_prose() -> None:
    text = (
        "# One; two\n\nFirst `a; b`. Second\nline; [more](x;y)!\n\n"
        "| a; b | c |\n\n```sh\nx; y\n```\n- Item. `x` is two.\n"
    )
    assert [words(one) for one in sentences(text)] == [
        ["First", "Code."],
        ["Second", "line;", "more!"],
        ["Item."],
        ["Code", "is", "two."],
    ]
    assert list(cells(text)) == ["a; b", "c"]


def test_the_tables_of_the_library_are_those_of_its_files() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (PAGE, CHANGELOG)]
    made = [found[2] for page in pages for found in MARKED.finditer(page)]
    assert sorted(made) == sorted(TABLES)
    told = "`python -m tests.library_tables` writes the tables of docs/reference/library.md and the CHANGELOG anew"
    assert pages == [written(page, library()) for page in pages], told
