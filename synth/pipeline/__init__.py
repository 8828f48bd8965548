"""Stages in order: ask, accept, retry; their artefacts and the folder of a run. It knows no stage."""
