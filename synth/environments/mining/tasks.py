"""Task texts from JSON Lines, CSV, API-Bank, ToolACE, or a named data set, and a filter for those worth a judgement."""

import csv
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from servers.errors import NotFound, RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.text.json_values import as_object, is_list, is_object
from synth.pipeline.plan import BY_NAME

KEYS = ("task", "text", "query", "instruction", "question", "prompt", "request")
FIRST_SPLIT = "train"
LARGEST_FILE = 512 * 1024 * 1024
SHORTEST, LONGEST = 20, 1500
ASKED = re.compile(r"(?s)\bUser:\s*(.*?)\s*(?:TIME:|API-Request:|Generate API Request:|\Z)")
WORD = re.compile(r"[a-z']+")
COMMON = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "by",
        "can",
        "could",
        "do",
        "for",
        "from",
        "have",
        "help",
        "how",
        "i",
        "in",
        "is",
        "it",
        "like",
        "me",
        "my",
        "need",
        "of",
        "on",
        "please",
        "that",
        "the",
        "this",
        "to",
        "want",
        "what",
        "with",
        "would",
        "you",
        "your",
    ]
)
UNWANTED = {
    "about pictures, sound or video": re.compile(r"(?i)\b(image|photo|picture|video|audio|sound|speech|song clip)s?\b"),
    "a role for a chatbot": re.compile(r"(?i)^\s*(you are|act as|imagine you|pretend)\b"),
    "with a link or an address": re.compile(r"https?://|www\.|\S+@\S+\.\S+"),
}


@dataclass(frozen=True)
class Tasks:
    """The texts that pass, and the number of the others by reason."""

    texts: tuple[str, ...]
    read: int
    dropped: dict[str, int]


def read_tasks(path: Path) -> Tasks:
    """The task texts of a file, or of a data set by name, without duplicates, in order.

    Raises:
        NotFound: there is no such file.
        RequestError: there is no such data set, or its format or language is not supported.
    """
    texts = list(_texts(path))
    if not texts:
        raise RequestError(f"{path}: holds no task texts")
    dropped: Counter[str] = Counter()
    kept: dict[str, str] = {}
    for text in texts:
        reason = _unwanted(text)
        key = " ".join(WORD.findall(text.lower()))
        if reason or key in kept:
            dropped[reason or "twice"] += 1
        else:
            kept[key] = " ".join(text.split())
    if dropped["not English"] > len(texts) / 2:
        raise RequestError(
            f"{path}: {dropped['not English']} of {len(texts)} texts are not English; translate them before, "
            "or give topics by --topic"
        )
    return Tasks(tuple(kept.values()), len(texts), dict(sorted(dropped.items())))


def _texts(path: Path) -> Iterator[str]:
    if str(path).startswith(BY_NAME):
        yield from _of_data_set(str(path).removeprefix(BY_NAME))
        return
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise RequestError(f"{path}: larger than {LARGEST_FILE // 1024 // 1024} MiB; split it")
        text = text_named(path, largest=LARGEST_FILE, encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path}: cannot be read as text: {trouble(error)}") from None
    readers = {".jsonl": _lines, ".csv": _rows, ".json": _list}
    if path.suffix not in readers:
        raise RequestError(f"{path}: task texts come as .jsonl, .csv, or the .json of API-Bank or ToolACE")
    yield from readers[path.suffix](path, text)


def _of_data_set(name: str) -> Iterator[str]:
    """The texts of `NAME[:SPLIT]`, read by a process of its own: see synth/dataset_process.py."""
    name, _, split = name.partition(":")
    with tempfile.TemporaryDirectory(prefix="farm-dataset-") as folder:
        rows = Path(folder) / "rows.jsonl"
        command = [sys.executable, "-m", "synth.dataset_process", name, split or FIRST_SPLIT, str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "No module named 'datasets'" in done.stderr:
            raise RequestError(
                f"{BY_NAME}{name}: needs the package datasets, which is not installed: pip install 'envfarm[datasets]'"
            )
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["no reason was told"]
            raise RequestError(f"{BY_NAME}{name}: cannot be read: {said[-1][:500]}")
        for number, line in enumerate(text_named(rows).splitlines(), start=1):
            yield _of(json.loads(line), f"{BY_NAME}{name}, row {number}")


def _lines(path: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            raise RequestError(f"{path}, line {number}: no JSON; every line holds one value") from None
        yield _of(value, f"{path}, line {number}")


def _rows(path: Path, text: str) -> Iterator[str]:
    for number, row in enumerate(csv.DictReader(StringIO(text)), start=2):
        yield _of(row, f"{path}, line {number}")


def _list(path: Path, text: str) -> Iterator[str]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise RequestError(f"{path}: no JSON: {error}") from None
    if not is_list(values):
        raise RequestError(f"{path}: is no list of entries, as API-Bank and ToolACE have it")
    for number, value in enumerate(values, start=1):
        yield _of(value, f"{path}, entry {number}")


def _of(value: Any, where: str) -> str:
    """The task of one entry, in any supported format."""
    if isinstance(value, str):
        return value
    entry = as_object(value)
    if {"instruction", "input", "output"} <= entry.keys():
        found = ASKED.search(str(entry["input"]))
        return found[1] if found else ""
    turns = entry.get("conversations")
    if is_list(turns):
        said = [turn for turn in turns if is_object(turn)]
        return next((str(turn.get("value", "")) for turn in said if turn.get("from") == "user"), "")
    for key in KEYS:
        if isinstance(entry.get(key), str):
            return str(entry[key])
    raise RequestError(f"{where}: has no text under {', '.join(KEYS)}, and is of neither API-Bank nor ToolACE")


def _unwanted(text: str) -> str:
    """Why a text is left out."""
    if not SHORTEST <= len(text) <= LONGEST:
        return f"shorter than {SHORTEST} or longer than {LONGEST} characters"
    if not in_english(text):
        return "not English"
    return next((reason for reason, pattern in UNWANTED.items() if pattern.search(text)), "")


def in_english(text: str) -> bool:
    """True if a text looks English: by its letters, and by some of the most common words."""
    letters = sum(one.isalpha() for one in text)
    plain = sum(one.isalpha() and one.isascii() for one in text)
    return plain >= 0.9 * letters > 0 and bool(COMMON & set(WORD.findall(text.lower())))


def report_text(tasks: Tasks, judged: int, stateful: int, chosen: Sequence[str]) -> str:
    """The counts of every step, for a reader."""
    lines = [f"read {tasks.read}", *(f"- dropped, {reason}: {count}" for reason, count in tasks.dropped.items())]
    lines += [f"kept {len(tasks.texts)}", f"judged {judged}", f"stateful {stateful}", f"chosen {len(chosen)}"]
    return "\n".join([*lines, *(f"- {title}" for title in chosen)]) + "\n"
