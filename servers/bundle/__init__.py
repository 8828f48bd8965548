"""An environment's files as typed values: description, scenarios, checkpoints, rules, examples, phrases.

Nothing here runs their code.
"""
