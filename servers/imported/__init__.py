"""What code that came from elsewhere gets in a guest: a clock and chances that repeat, and rows in place of attributes.

These files run beside code that a model wrote. They import nothing of ours but the toolkit and each other.
"""
