"""EnvScaler's files: environments and scenarios come in as ordinary bundles, are audited, and go out again."""
