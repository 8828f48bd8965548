"""A reference solution, played: what it did, what it left, what its task tells.

Makers and certifiers of scenarios share it.
"""
