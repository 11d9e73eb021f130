"""The horizontal Pod autoscaler."""

from engine.controllers.podautoscaler.controller import HorizontalPodAutoscaler

__all__ = ["HorizontalPodAutoscaler"]
