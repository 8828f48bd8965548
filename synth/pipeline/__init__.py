"""The engine of stages: ask, accept, retry; artefacts and the folder of a run. It knows no particular stage."""
