"""Writers: language models that are asked for JSON, their endpoints, caches and recordings.

Nothing here knows what is asked for.
"""
