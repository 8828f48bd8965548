"""Wrong agents, mutants and exploits that no scenario may reward."""
