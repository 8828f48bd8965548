"""A suite and its run: which scenarios, which agents, the run folder and its records.

Reports read it; it writes none.
"""
