"""When devices were tainted: who taints one need not say.

Source of the behaviour: SetDefaults_DeviceTaint (pkg/apis/resource/v1/defaults.go) and
pkg/registry/resource/devicetaintrule/strategy.go.
"""

from __future__ import annotations

from engine.api.resources import ResourceInfo
from engine.api.types import Object

_RULE = ("resource.k8s.io", "DeviceTaintRule")
_SLICE = ("resource.k8s.io", "ResourceSlice")


def default_taint_times(info: ResourceInfo, obj: Object, *, now: str) -> None:
    """Gives every taint that does not say since when it is there the time of now."""
    kind, spec = (info.gvr.group, info.kind), obj.get("spec") or {}
    if kind == _RULE and spec.get("taint"):
        spec["taint"].setdefault("timeAdded", now)
    elif kind == _SLICE:
        for device in spec.get("devices") or ():
            for taint in device.get("taints") or ():
                taint.setdefault("timeAdded", now)


def renew_taint_time(info: ResourceInfo, new: Object, old: Object, *, now: str) -> None:
    """A rule whose effect has changed taints anew, unless it says itself since when."""
    if (info.gvr.group, info.kind) != _RULE:
        return
    taint, before = ((obj.get("spec") or {}).get("taint") or {} for obj in (new, old))
    if taint.get("effect") != before.get("effect") and taint.get("timeAdded") == before.get("timeAdded"):
        taint["timeAdded"] = now
