"""The Ray cluster: for workers of a farm, and for synthesis, proofs and certificates. Child processes alone import it.

Without the extra `envfarm[scale]` no module here can be imported.
"""
