"""API Priority and Fairness: how many requests run at once, and who waits for whom."""

from engine.apiserver.fairness.dumps import PATHS, PREFIX, dump
from engine.apiserver.fairness.levels import PriorityLevels, Seat

__all__ = ["PATHS", "PREFIX", "PriorityLevels", "Seat", "dump"]
