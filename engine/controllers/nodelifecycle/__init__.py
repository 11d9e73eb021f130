"""The node lifecycle controller: notices Nodes that fell silent, and taints them."""

from engine.controllers.nodelifecycle.controller import NodeLifecycleController

__all__ = ["NodeLifecycleController"]
