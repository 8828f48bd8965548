"""What the pages of a farm are made of: sessions, forms, diagrams, live updates. Agents see none of it."""
