"""The scheduling cycle (choose a node) and the binding cycle (bind to it) of one pod at a time."""
