"""How long the sentences of a page are. `python -m tests.prose` prints every page."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = 35
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
CODE = re.compile(r"(`+).+?\1")
NO_PROSE = re.compile(r"\||#|:::|-{3,}$")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s")
END = re.compile(r"(?<=[.!?])[\"'”*_)]*\s+(?=[\"'“*_(]*[A-Z0-9])|(?<=:)\s*$")


class Measure(NamedTuple):
    """The sentences of some prose: how many, their words, how many are long, and the semicolons in them."""

    sentences: int
    words: int
    long: int
    semicolons: int

    @classmethod
    def of(cls, sentences: Iterable[str]) -> Self:
        found = list(sentences)
        lengths = [len(words(sentence)) for sentence in found]
        long = sum(length > LONG for length in lengths)
        return cls(len(found), sum(lengths), long, sum(sentence.count(";") for sentence in found))

    @property
    def words_a_sentence(self) -> float:
        return self.words / max(self.sentences, 1)

    @property
    def percent_long(self) -> float:
        return 100 * self.long / max(self.sentences, 1)

    @property
    def semicolons_per_100(self) -> float:
        return 100 * self.semicolons / max(self.sentences, 1)

    def __str__(self) -> str:
        return (
            f"{self.sentences:5} sentences {self.words_a_sentence:5.1f} words {self.percent_long:5.1f} % long"
            f" {self.semicolons_per_100:5.1f} semicolons in 100"
        )


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of paragraphs and list items. Code, tables and headings are not prose; a code span is one word."""
    text = COMMENT.sub("", FENCE.sub("\n", markdown))
    text = LINK.sub(r"\1", CODE.sub("Code", text))
    for paragraph in paragraphs(text):
        yield from (sentence for sentence in END.split(paragraph) if words(sentence))


def cells(markdown: str) -> Iterator[str]:
    """The sentences in the cells of tables."""
    text = LINK.sub(r"\1", CODE.sub("Code", COMMENT.sub("", FENCE.sub("\n", markdown))))
    for line in text.splitlines():
        if line.startswith("|"):
            for cell in line.strip("|").split(" | "):
                yield from (sentence for sentence in END.split(cell.strip()) if words(sentence))


def paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if not line.strip() or NO_PROSE.match(line.strip()) or ITEM.match(line):
            if lines:
                yield " ".join(lines)
            lines = [ITEM.sub("", line)] if ITEM.match(line) else []
        else:
            lines.append(line.strip())


def words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if re.search(r"\w", word)]


def measure(pages: Iterable[Path]) -> Measure:
    return Measure.of(sentence for page in pages for sentence in sentences(page.read_text(encoding="utf-8")))


def main() -> None:
    for page in PAGES:
        sys.stdout.write(f"{measure([page])}  {page.relative_to(ROOT)}\n")
    sys.stdout.write(f"{measure(PAGES)}  all\n")
    every = (sentence for page in PAGES for sentence in cells(page.read_text(encoding="utf-8")))
    sys.stdout.write(f"{Measure.of(every)}  cells of tables\n")


if __name__ == "__main__":
    main()
