"""From task texts to topics."""
