"""The stages that make an environment, from its setting to a proved bundle."""
