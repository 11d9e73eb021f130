"""What the informers of a component tell of themselves (component-base metrics/prometheus/clientgo/fifo).

Of several informers of one resource the first alone tells, as upstream's reserved names have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.client.informer import SharedInformer
from engine.metrics import Gauge

_LABELS = ("name", "group", "version", "resource")
_VERSION_DIGITS = 10**15  # a version is shown without what a floating point number would lose


def families(name: str, informers: Iterable[SharedInformer]) -> list[dict[str, Any]]:
    """In the form of `engine.metrics` views."""
    queued = Gauge("informer_queued_items", "[ALPHA] Number of items currently queued in the FIFO.", *_LABELS)
    version = Gauge(
        "informer_store_resource_version",
        "[ALPHA] The 15 least significant digits of the resource version of the store.",
        *_LABELS,
    )
    for resource, informer in {each.resource: each for each in reversed(list(informers))}.items():
        labels = (name, resource.group, resource.version, resource.resource)
        queued.set(*labels, to=0)  # what comes is handed to all handlers at once: nothing ever waits
        if informer.version.isdigit():
            version.set(*labels, to=int(informer.version) % _VERSION_DIGITS)
    return [queued.to_json(), version.to_json()]
