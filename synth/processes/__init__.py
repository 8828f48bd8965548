"""Work spread over processes of this machine or of a Ray cluster. Nothing here knows the work."""
