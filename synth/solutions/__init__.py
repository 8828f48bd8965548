"""A played reference solution: its calls, its final state, and the values that its task tells.

Generators and certifiers of scenarios share it.
"""
