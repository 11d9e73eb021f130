"""Volumes and claims: the binder, a simulated provisioner and attacher, and what protects both while they are used."""

from engine.controllers.persistentvolume.attachdetach import AttachDetachController
from engine.controllers.persistentvolume.attacher import SimulatedAttacher
from engine.controllers.persistentvolume.binder import PersistentVolumeBinder
from engine.controllers.persistentvolume.ephemeral import EphemeralVolumeController
from engine.controllers.persistentvolume.expand import ExpandController
from engine.controllers.persistentvolume.protection import (
    PVCProtectionController,
    PVProtectionController,
    VACProtectionController,
)
from engine.controllers.persistentvolume.provisioner import SimulatedProvisioner

__all__ = [
    "AttachDetachController",
    "EphemeralVolumeController",
    "ExpandController",
    "PVCProtectionController",
    "PVProtectionController",
    "PersistentVolumeBinder",
    "SimulatedAttacher",
    "SimulatedProvisioner",
    "VACProtectionController",
]
