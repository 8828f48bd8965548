"""Jobs in processes of this machine or of a Ray cluster. This package does not know the jobs."""
