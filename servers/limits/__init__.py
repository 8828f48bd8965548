"""Budgets of memory, processor time, threads and calls, and their measurement.

Limits of one part only are in that part.
"""
