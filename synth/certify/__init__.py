"""What a certificate tries on a scenario; nothing here makes scenarios."""
