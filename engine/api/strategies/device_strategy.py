"""What the API server does to the status of a ResourceClaim (pkg/registry/resource/resourceclaim/strategy.go)."""

from __future__ import annotations

from engine.api.types import Object


def prepare_claim_status_for_update(new: Object, old: Object) -> None:
    """What was said of a device goes with its allocation."""
    status = new.get("status") or {}
    gone = _allocated(old) - _allocated(new)
    if gone and status.get("devices"):
        status = {**status, "devices": [each for each in status["devices"] if _identity(each) not in gone]}
        if not status["devices"]:
            del status["devices"]
        new["status"] = status


def _allocated(claim: Object) -> set[tuple[str, ...]]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return {_identity(result) for result in (allocation.get("devices") or {}).get("results") or ()}


def _identity(device: Object) -> tuple[str, ...]:
    return tuple(device.get(field) or "" for field in ("driver", "pool", "device", "shareID"))
