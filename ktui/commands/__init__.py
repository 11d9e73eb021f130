"""One module a family of commands."""


class UsageError(Exception):
    """What was asked for cannot be done; the message says why and the way out.

    `code` is the exit code of the process, `prefix` stands before the message: both are kubectl's.
    """

    code = 1
    prefix = "error"
