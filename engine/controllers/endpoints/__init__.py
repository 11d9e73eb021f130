"""The Endpoints controller: the older, flat picture of what stands behind a Service."""

from engine.controllers.endpoints.controller import EndpointsController

__all__ = ["EndpointsController"]
