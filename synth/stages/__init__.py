"""The stages that write an environment: each a typed artefact, a prompt, and what makes an answer acceptable."""
