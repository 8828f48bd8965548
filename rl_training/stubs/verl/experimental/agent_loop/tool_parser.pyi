from typing import Any

from rl_training.spoken import Parser

class ToolParser:
    @classmethod
    def get_tool_parser(cls, name: str, tokenizer: Any) -> Parser: ...
