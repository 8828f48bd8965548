"""A small environment for showing that training works: short texts, few words, three steps to a goal."""
