"""Devices that must be made ready before a pod is bound: conditions that their drivers set in the claim (KEP 5007)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.duration import parse_time
from engine.api.types import Object
from engine.clock import Clock
from engine.scheduler.plugins.resource_claims import ClaimError, allocation_of

DEFAULT_BINDING_TIMEOUT = 600.0
POLL_PERIOD = 5.0


class DeviceFailedError(ClaimError):
    """A device's driver says that it cannot be made ready."""


class DeviceLateError(ClaimError):
    """A device has not become ready in time."""


def _conditional(claim: Object) -> Iterator[Object]:
    """The allocated devices that have conditions."""
    for result in ((allocation_of(claim) or {}).get("devices") or {}).get("results") or ():
        if result.get("bindingConditions"):
            yield result


def has_conditions(claim: Object) -> bool:
    return any(True for _ in _conditional(claim))


def drivers_waited_for(claims: Iterable[Object]) -> list[str]:
    """The drivers of all devices that have conditions."""
    return sorted({str(result["driver"]) for claim in claims for result in _conditional(claim)})


def status_of(failure: Exception) -> str:
    """How a wait for devices ended that failed, as metrics tell it."""
    if isinstance(failure, DeviceFailedError):
        return "failure"
    return "timeout" if isinstance(failure, DeviceLateError | TimeoutError) else "error"


def _conditions(claim: Object, result: Object) -> dict[str, Object] | None:
    """What the driver says of a device; None where it has said nothing yet."""
    for device in (claim.get("status") or {}).get("devices") or ():
        if all(device.get(name) == result.get(name) for name in ("driver", "pool", "device")):
            return {condition["type"]: condition for condition in device.get("conditions") or ()}
    return None


def is_ready(claim: Object) -> bool:
    """Whether all conditions of all devices are true. Raises DeviceFailedError if one says that it failed."""
    if allocation_of(claim) is None:
        return False
    for result in _conditional(claim):
        said = _conditions(claim, result)
        if said is None:
            return False
        for name in result.get("bindingFailureConditions") or ():
            if (failed := said.get(name, {})).get("status") == "True":
                told = f"claim {claim['metadata']['name']} binding failed"
                raise DeviceFailedError(
                    f'{told}: reason={failed.get("reason", "")}, message="{failed.get("message", "")}"'
                )
        if any(said.get(name, {}).get("status") != "True" for name in result["bindingConditions"]):
            return False
    return True


def is_late(claim: Object, timeout: float, clock: Clock) -> bool:
    """Whether its devices have had their time to become ready."""
    since = (allocation_of(claim) or {}).get("allocationTimestamp")
    if not since or not has_conditions(claim):
        return False
    return (clock.now() - parse_time(str(since))).total_seconds() > timeout


def is_stuck(claim: Object, timeout: float, clock: Clock) -> bool:
    """Whether the allocation leads nowhere: a device has failed, or is late."""
    try:
        return not is_ready(claim) and is_late(claim, timeout, clock)
    except ClaimError:
        return True
