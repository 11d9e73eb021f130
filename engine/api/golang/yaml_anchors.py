"""YAML's nodes where an anchor is set anew: PyYAML refuses that, go-yaml (as YAML 1.1 has it) goes by the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from yaml.composer import Composer

if TYPE_CHECKING:
    from yaml.nodes import Node

REFUSED = "second occurrence"


class LatestAnchors(Composer):
    """To be mixed into a loader whose events it composes; slower than the loader's own way."""

    def compose_node(self, parent: Node | None, index: object) -> Node | None:
        event = self.peek_event()  # type: ignore[attr-defined]  # the loader's
        if not isinstance(event, yaml.events.AliasEvent) and event.anchor is not None:
            self.anchors.pop(event.anchor, None)
        return super().compose_node(parent, index)  # type: ignore[arg-type]
