"""Rows of training data: selection, demonstrations, curriculum, Parquet. This package trains nothing."""
