"""A prompt file becomes messages, or says what is wrong with it."""

from pathlib import Path

import pytest

from synth.llm.prompt import Prompt, PromptError
from synth.llm.writer import WriterMessage


def prompt(folder: Path, text: str) -> Prompt:
    file = folder / "schema.md"
    file.write_text(text)
    return Prompt.load(file)


def test_messages_are_told_apart_and_holes_are_filled(tmp_path: Path) -> None:
    text = "A note for people.\n\n<!-- system -->\nBe brief.\n\n<!-- user -->\n# {{title}}\n\nTables for {{title}}?\n"
    assert prompt(tmp_path, text).fill(title="Loans") == (
        WriterMessage(role="system", content="Be brief."),
        WriterMessage(role="user", content="# Loans\n\nTables for Loans?"),
    )


def test_a_file_without_marks_is_one_message_of_the_user(tmp_path: Path) -> None:
    assert prompt(tmp_path, "Which?\n").fill() == (WriterMessage(role="user", content="Which?"),)


def test_what_fills_a_hole_is_no_hole_itself(tmp_path: Path) -> None:
    [message] = prompt(tmp_path, "{{a}} {{b}}").fill(a="{{b}}", b="<!-- system -->")
    assert message.content == "{{b}} <!-- system -->"


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("{{a}} {{b}}", {"a": "x"}, "schema.md: nothing for {{b}}"),
        ("{{a}}", {"a": "x", "c": "y"}, "schema.md: has no {{c}}; it has: a"),
        ("<!-- system -->\n<!-- user -->\nx", {}, "schema.md: the message of the system is empty"),
        ("", {}, "schema.md: the message of the user is empty"),
    ],
)
def test_a_hole_that_is_not_there_or_not_filled_is_an_error(
    text: str, values: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(PromptError, match="schema") as error:
        prompt(tmp_path, text).fill(**values)
    assert message in str(error.value)
