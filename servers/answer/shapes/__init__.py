"""The shapes in which an answer may come: free text, JSON by the names of facts, a last line with the values."""
