"""Facts in free text: what an answer tells, and whether it tells what was asked. Pure functions, no input or output."""

JUDGE_VERSION = 10
"""Raise it when a certificate may come out otherwise than before: those of other versions are out of date."""

HOW_TO_ANSWER = (
    "When you are done, answer in your last message: tell what you were asked to tell, each value once and for "
    "certain, and say what each is of. Tell no other amounts, dates, times, counts or names of the same sort that "
    "nobody asked for. Call things by the names that they have here. Begin the answer to a question of yes or no with "
    "that word. If there is nothing such, say that there is none. If you were asked for a value, end the message with "
    "a line that has it and nothing else: `Answer: 12 euros`. Several values stand in the order in which they were "
    "asked for, with semicolons between: `Answer: 12 euros; 3 April; yes`. Each value stands alone, without words "
    "around it: `3 April`, and not `due on 3 April`; `5`, and not `5 tickets`. If you were asked why something was not "
    "done, and a date, a time or an amount stood in its way, it stands there too: `Answer: 12 euros; reason: 3 April`. "
    "Otherwise no reason stands there. Values are read from that line alone, so it is your last word on them. Say "
    "above it what you did, and why something was not done."
)
"""The words that every agent reads. `servers.answer.checks.verdict` holds answers to them."""
