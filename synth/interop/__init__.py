"""Environments in others' formats: EnvScaler's files in and out, and audits of them."""
