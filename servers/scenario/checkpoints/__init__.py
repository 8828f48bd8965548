"""The kinds of checkpoints, one file each: model, question, findings, cost. `kinds.py` lists them."""
