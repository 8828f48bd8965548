"""The files of an environment as typed values: description, tools, rules, examples, phrases.

Nothing here runs their code.
"""
