"""What is said in the episodes of these tests."""

TASK = "Please let the bell cost 2.50."
DEARER = '<tool_call>\n{"name": "price", "arguments": {"id": "t2", "cents": 250}}\n</tool_call>'
LOOK = '<tool_call>\n{"name": "find", "arguments": {"text": "bell"}}\n</tool_call>'
TEXTS = (TASK, DEARER, LOOK, "Done. assistant user tool tools")
