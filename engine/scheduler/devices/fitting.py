"""Which devices suit a request: those that its class and its own selectors select."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.devices.pools import Device, DeviceId
from engine.scheduler.devices.requests import AllocationError, Request, claim_key
from engine.scheduler.devices.selectors import SelectorError, Verdicts


class Fitting:
    """For one search, which asks for the same device again and again."""

    def __init__(self, verdicts: Verdicts, *, conditions: bool) -> None:
        """`conditions`: whether devices are taken that must be made ready first."""
        self._verdicts = verdicts
        self._conditions = conditions
        self._known: dict[tuple[int, DeviceId], bool] = {}

    def suits(self, claim: Object, request: Request, device: Device) -> bool:
        """Raises AllocationError for a selector that breaks."""
        key = (id(request), device.id)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._select(claim, request, device)
        return known

    def _select(self, claim: Object, request: Request, device: Device) -> bool:
        if device.spec.get("bindingConditions") and not self._conditions:
            return False
        name = request.device_class["metadata"]["name"]
        of_class = (request.device_class.get("spec") or {}).get("selectors") or []
        return self._match(f"class {name}", of_class, device) and self._match(
            f"claim {claim_key(claim)}", request.selectors, device
        )

    def _match(self, whose: str, selectors: list[Object], device: Device) -> bool:
        for i, selector in enumerate(selectors):
            try:
                if not self._verdicts.matches(selector["cel"]["expression"], device):
                    return False
            except SelectorError as error:
                failed = str(error).startswith("CEL runtime error")
                where = f" on device {device.id}" if failed else ""
                raise AllocationError(f"{whose}: selector #{i}{where}: {error}") from None
        return True
