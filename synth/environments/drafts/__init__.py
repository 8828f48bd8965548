"""Operations of several stages on an unfinished environment: build it, describe it, play calls on it."""
