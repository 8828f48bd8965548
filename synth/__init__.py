"""Writing environments and scenarios with a language model, and proving them."""
