"""Hops 04 and 06: plugins that change and that check what a request would write."""

from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, denied
from engine.apiserver.admission.chain import AdmissionChain

__all__ = ["AdmissionChain", "Attributes", "Operation", "Plugin", "denied"]
