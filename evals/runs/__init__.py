"""A suite and its run: scenarios, agents, the run folder and its records. Reports read it."""
