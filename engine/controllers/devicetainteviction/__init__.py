"""Pods leave devices that have a taint which they do not tolerate."""

from engine.controllers.devicetainteviction.controller import (
    RULES,
    SLICES,
    DeviceTaintEvictionController,
)

__all__ = ["RULES", "SLICES", "DeviceTaintEvictionController"]
