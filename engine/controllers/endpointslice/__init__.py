"""The EndpointSlice controller: which Pods stand behind a Service, and in what state (hop 12)."""

from engine.controllers.endpointslice.controller import EndpointSliceController

__all__ = ["EndpointSliceController"]
