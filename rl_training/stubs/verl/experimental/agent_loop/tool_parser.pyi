from typing import Any

from rl_training.episode.tool_call_parser import Parser

class ToolParser:
    @classmethod
    def get_tool_parser(cls, name: str, tokenizer: Any) -> Parser: ...
    async def extract_tool_calls(self, responses_ids: list[int], tools: Any = None) -> Any: ...
