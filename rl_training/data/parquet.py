# pyright: basic, reportMissingImports=false
"""Packs rows into a Parquet file for verl, without those whose prompt is too long for the model.

Run as `python -m rl_training.data.parquet ROWS.jsonl OUT.parquet [TOKENIZER LONGEST]`. It prints its counts as JSON. A
row's tools count as part of its prompt and are left out of the file: an episode lists them itself.
"""

import json
import sys
from pathlib import Path
from typing import Any

import datasets
from transformers import AutoTokenizer

from servers.files.named_file import text_named


def pack(rows: list[dict[str, Any]], out: Path, *, tokenizer: Any, longest: int | None) -> dict[str, Any]:
    """Write a Parquet file. Returns the number of rows kept and left out, and the longest prompt in tokens."""
    kept: list[dict[str, Any]] = []
    lengths: list[int] = []
    for row in rows:
        length = None if tokenizer is None else tokens_of(row, tokenizer)
        if longest is not None and length is not None and length > longest:
            continue
        lengths.append(length or 0)
        extra = {**row["extra_info"], "prompt_tokens": length}
        kept.append({**{key: value for key, value in row.items() if key != "tools"}, "extra_info": extra})
    if kept:
        datasets.Dataset.from_list(kept).to_parquet(str(out))
    return {"rows": len(kept), "too_long": len(rows) - len(kept), "longest_prompt": max(lengths, default=0)}


def tokens_of(row: dict[str, Any], tokenizer: Any) -> int:
    """The number of tokens before the model's first turn."""
    text = tokenizer.apply_chat_template(
        row["prompt"], tools=row["tools"] or None, tokenize=False, add_generation_prompt=True
    )
    return len(tokenizer.encode(text, add_special_tokens=False))


def main(source: str, out: str, model: str = "", longest: str = "") -> None:
    """Run `pack` with the arguments of the command line."""
    datasets.disable_progress_bars()
    rows = [json.loads(line) for line in text_named(Path(source)).splitlines()]
    tokenizer = AutoTokenizer.from_pretrained(model) if model else None
    told = pack(rows, Path(out), tokenizer=tokenizer, longest=int(longest) if longest else None)
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
