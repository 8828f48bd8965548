"""A user that a model plays. Imports read its words."""

SYSTEM_PROMPT_TRAVEL_EN = """You are a guest of a greenhouse. {instruction} Say 'finish conversation' at the end."""
SYSTEM_PROMPT_BASE_EN = """You own a greenhouse. {instruction} Say 'finish conversation' when all is done."""


class APIUSER:
    def get_init_prompt(self, question: str) -> list[dict[str, str]]:
        prompt = SYSTEM_PROMPT_BASE_EN.format(instruction=question)
        return [{"role": "system", "content": prompt}, {"role": "user", "content": "What is there to do?"}]
