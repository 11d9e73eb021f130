"""The CronJob controller: Jobs by the clock."""

from engine.controllers.cronjob.controller import CronJobController

__all__ = ["CronJobController"]
