"""Writers: language models that answer in JSON, with endpoints, caches and recordings.

They do not know what they are asked.
"""
