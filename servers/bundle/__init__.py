"""An environment's files as typed values: description, tools, rules, examples, phrases.

Nothing here runs their code.
"""
