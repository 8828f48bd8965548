"""The farm in a browser: what its pages show, whom they let in, and what a stranger's text can do there."""
