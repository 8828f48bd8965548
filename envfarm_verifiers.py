"""The module that `vf-eval envfarm-verifiers` and prime-rl load: it has `load_environment`. It needs verifiers."""

from evals.frameworks.verifiers_environment import load_environment

__all__ = ["load_environment"]
