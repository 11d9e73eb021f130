"""The DaemonSet controller: one Pod on every Node that it fits."""

from engine.controllers.daemonset.controller import DaemonSetController

__all__ = ["DaemonSetController"]
