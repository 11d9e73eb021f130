"""`rollout`: how a workload moves from one revision to the next."""

from engine.kubectl.verbs.rollout.command import COMMAND

__all__ = ["COMMAND"]
