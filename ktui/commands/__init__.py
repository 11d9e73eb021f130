"""One module a family of commands."""


class UsageError(Exception):
    """What was asked for cannot be done; the message says why and the way out."""
