"""Stored objects rewritten in the version that is stored now."""

from engine.controllers.storageversionmigrator.controller import MIGRATIONS, StorageVersionMigratorController

__all__ = ["MIGRATIONS", "StorageVersionMigratorController"]
