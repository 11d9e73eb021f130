"""KubeSchedulerConfiguration v1: what a scheduler is told to be."""

from engine.scheduler.configuration.configuration import ExtenderConfiguration, SchedulerConfiguration

__all__ = ["ExtenderConfiguration", "SchedulerConfiguration"]
