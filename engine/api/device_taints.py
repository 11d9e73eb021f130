"""Taints of devices and what tolerates them (dynamic-resource-allocation/resourceclaim, ToleratesTaint)."""

from __future__ import annotations

from engine.api.types import Object

NO_EXECUTE = "NoExecute"


def tolerates(toleration: Object, taint: Object) -> bool:
    """Whether a toleration of a request is for this taint; for how long is another question."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    return operator == "Equal" and (toleration.get("value") or "") == (taint.get("value") or "")
