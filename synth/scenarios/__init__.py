"""The commands about scenarios, and the work of their processes.

How scenarios are made lives in `backward`, `forward` and `conversation`.
"""
