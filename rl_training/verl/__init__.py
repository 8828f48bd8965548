"""verl's trainers as processes: their settings and command lines."""
