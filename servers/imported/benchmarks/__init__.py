"""What serves and judges public benchmarks in a guest: their own code, read from rows, on state in rows.

These files import nothing of ours but the toolkit and `servers.imported`.
"""
