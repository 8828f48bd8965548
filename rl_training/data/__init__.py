"""Rows of training data: selection, demonstrations, curriculum, Parquet. Nothing here trains."""
