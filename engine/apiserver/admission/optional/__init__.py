"""Plugins that are off unless they are asked for (`ktui up --enable-admission-plugins`)."""

from engine.apiserver.admission.optional.always import AlwaysAdmit, AlwaysDeny
from engine.apiserver.admission.optional.events import EventRateLimit
from engine.apiserver.admission.optional.image_policy import ImagePolicyWebhook
from engine.apiserver.admission.optional.images import AlwaysPullImages
from engine.apiserver.admission.optional.namespaces import NamespaceAutoProvision, NamespaceExists
from engine.apiserver.admission.optional.owners import OwnerReferencesPermissionEnforcement
from engine.apiserver.admission.optional.pods import (
    ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology,
    PodNodeSelector,
    PodTolerationRestriction,
)
from engine.apiserver.admission.optional.services import DenyServiceExternalIPs

__all__ = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodTolerationRestriction",
]
