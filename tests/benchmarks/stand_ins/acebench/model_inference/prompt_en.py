"""What the agent is told, by domain."""

BASE_PROMPT_EN = """
You tend a greenhouse. Its power must be on before anything is watered.
"""
TRAVEL_PROMPT_EN = """
Where a bed is not named, ask which one.
"""
