"""How agents are told to answer: what a right answer is, in the words that every one of them reads."""

HOW_TO_ANSWER = (
    "When you are done, answer in your last message: tell what you were asked to tell, each value once and for "
    "certain, and say what each is of. Tell no other amounts, dates, times, counts or names of the same sort that "
    "nobody asked for. Call things by the names that they have here. Begin the answer to a question of yes or no with "
    "that word. If there is nothing such, say that there is none."
)
"""`servers.answer.checks.verdict` holds answers to this; docs/reference/answers.md says what follows from it."""
