"""The pages of a farm, each with what it alone needs. What all of them share lives in `registry.web`."""
