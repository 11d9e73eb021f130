"""How many devices a node has of a class and how many of them are taken: how full it is of an extended resource that
devices stand behind (KEP 5004).

Source: upstream's plugins/noderesources/resource_allocation.go (calculateDRAResourceTotals). Taints do not matter here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.api.types import Object
from engine.scheduler.devices.pools import Device, DeviceId, devices_near
from engine.scheduler.devices.selectors import SelectorError, Verdicts
from engine.scheduler.plugins.extended_resources import device_class_of
from engine.scheduler.plugins.resource_claims import RESOURCE_SLICES, allocated_devices, consumed_capacities

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class Totals(NamedTuple):
    capacity: int = 0
    allocated: int = 0


class ClassTotals:
    """Of one class, as things are now."""

    def __init__(self, device_class: Object, handle: Handle, verdicts: Verdicts) -> None:
        selectors = (device_class.get("spec") or {}).get("selectors") or ()
        self._expressions = [str((each.get("cel") or {}).get("expression", "")) for each in selectors]
        self._verdicts = verdicts
        self._of_node: dict[str, list[Object]] = {}
        self._anywhere: list[Object] = []
        for each in handle.lister(RESOURCE_SLICES).list():
            name = each["spec"].get("nodeName")
            (self._of_node.setdefault(name, []) if name else self._anywhere).append(each)
        known = list(handle.claims_in_use())
        self._taken: set[DeviceId] = {device for claim in known for device in allocated_devices(claim)}
        self._taken |= set(consumed_capacities(known))

    def on(self, node: Object) -> Totals:
        slices = [*self._anywhere, *self._of_node.get(node["metadata"]["name"], ())]
        try:
            found = [device for device in devices_near(slices, node) if self._is_meant(device)]
        except SelectorError:
            return Totals()
        return Totals(len(found), sum(device.id in self._taken for device in found))

    def _is_meant(self, device: Device) -> bool:
        return all(self._verdicts.matches(expression, device) for expression in self._expressions)


class DeviceTotals:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._verdicts = Verdicts()

    def of(self, resource: str) -> ClassTotals | None:
        """None for a resource that no devices stand behind."""
        found = device_class_of(resource, self._handle)
        return ClassTotals(found, self._handle, self._verdicts) if found is not None else None
