"""Other faces of the same tools: other names, texts, orders and results, with a mapping back. No rows, no scenarios."""
