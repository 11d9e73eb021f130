"""The object model: pure functions over plain JSON dicts, no I/O."""
