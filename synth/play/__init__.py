"""A bundle played in this process: the playground, sampled arguments, views of rows.

It judges nothing and writes nothing.
"""
