"""The reason of a refusal, found by repeating the command under other conditions."""
