"""Writing environments and scenarios, proving and certifying them."""
