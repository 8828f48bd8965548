"""The proof of an environment: exploration, repetition, refusals. No model is asked."""
