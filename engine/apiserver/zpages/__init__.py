"""/statusz and /flagz: what a person wants to know of a server that misbehaves, and not as of 1.36 tools alone do."""
