"""What runs in a guest, beside untrusted code, and the frames spoken with it.

It imports nothing of ours but the gate, the toolkit and `servers.imported`.
"""
