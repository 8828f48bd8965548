"""What makes a task long: a sentence, many times."""

LONG_NOTE = "Nothing to see here. " * 20
