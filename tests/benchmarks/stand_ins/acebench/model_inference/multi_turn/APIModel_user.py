"""A user that a model plays. Imports read its words."""

SYSTEM_PROMPT_TRAVEL_EN = """You are a guest of a greenhouse. {instruction} Say 'finish conversation' at the end."""
SYSTEM_PROMPT_BASE_EN = """You own a greenhouse. {instruction} Say 'finish conversation' when all is done."""

SYSTEM_PROMPT_TRAVEL_ZH = """你来参观温室。{instruction} 最后说 finish conversation"""
SYSTEM_PROMPT_BASE_ZH = """温室是你的。{instruction} 都做完以后说 finish conversation"""


class APIUSER:
    def __init__(self, language: str) -> None:
        self.language = language

    def get_init_prompt(self, question: str) -> list[dict[str, str]]:
        if self.language == "zh":
            prompt = SYSTEM_PROMPT_BASE_ZH.format(instruction=question)
            return [{"role": "system", "content": prompt}, {"role": "user", "content": "要做什么?"}]
        prompt = SYSTEM_PROMPT_BASE_EN.format(instruction=question)
        return [{"role": "system", "content": prompt}, {"role": "user", "content": "What is there to do?"}]
