"""A farm's environments for TRL's trainers."""
