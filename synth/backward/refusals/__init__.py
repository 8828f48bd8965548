"""Why a command was refused, found by playing it again under other conditions."""
