"""What untrusted source may contain, found from its text.

It runs in guests too, so it imports nothing else of ours but what guests do.
"""
