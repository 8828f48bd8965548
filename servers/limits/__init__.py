"""Budgets of memory, processor time, threads and calls, and what measures them.

The numbers of one part stay in that part.
"""
