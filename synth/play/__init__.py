"""A bundle played in this process: the playground, drawn arguments, rows as a drawer sees them.

It judges nothing and writes nothing.
"""
