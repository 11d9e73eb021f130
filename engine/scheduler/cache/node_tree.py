"""The order in which nodes are looked at: one of each zone in turn (upstream's backend/cache/node_tree.go)."""

from __future__ import annotations

from collections.abc import Mapping

# The older one counts where a node has both (component-helpers/node/topology, GetZoneKey).
REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if name in labels), "")


def zone_of(labels: Mapping[str, str]) -> str:
    """Region and zone in one key; "" for a node without either."""
    region, zone = _first(labels, REGION_LABELS), _first(labels, ZONE_LABELS)
    return f"{region}:\x00:{zone}" if region or zone else ""


class NodeTree:
    """Node names by zone, each in the order of adding."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}

    def add(self, name: str, labels: Mapping[str, str]) -> bool:
        """Add a node or move it to its zone of now; says whether the order changed."""
        zone = zone_of(labels)
        before = self._zone_of.get(name)
        if before == zone:
            return False
        if before is not None:
            self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        return True

    def remove(self, name: str) -> None:
        zone = self._zone_of.pop(name, None)
        if zone is None:
            return
        nodes = self._zones[zone]
        nodes.pop(name, None)
        if not nodes:
            del self._zones[zone]

    def names(self) -> list[str]:
        """One node of each zone, then the next of each, until all are named."""
        zones = [list(nodes) for nodes in self._zones.values()]
        longest = max(map(len, zones), default=0)
        return [zone[i] for i in range(longest) for zone in zones if i < len(zone)]
