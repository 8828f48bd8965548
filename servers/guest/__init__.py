"""The code of a guest process, which runs untrusted code, and the frames of its protocol.

It imports nothing of ours but the gate, the toolkit and `servers.imported`.
"""
