"""The control plane: everything but the screen. Nothing in here imports `ktui`."""
