"""The ResourceQuota controller."""

from engine.controllers.resourcequota.controller import ResourceQuotaController

__all__ = ["ResourceQuotaController"]
