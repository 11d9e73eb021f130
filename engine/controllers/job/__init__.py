"""The Job controller: Pods that run to their end, as often as asked for."""

from engine.controllers.job.controller import JobController

__all__ = ["JobController"]
