"""The scheduler (hop 10)."""

from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.framework.profile import EnabledPlugin, Profile
from engine.scheduler.scheduler import Scheduler

__all__ = ["EnabledPlugin", "Profile", "Scheduler", "SchedulerConfiguration"]
