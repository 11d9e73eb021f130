"""Kinds that are stored in another version than they are asked for in read as they were written."""

from __future__ import annotations

from engine.api.types import GVR, Object
from engine.client import Client

EVENTS = GVR("events.k8s.io", "v1", "events")
OLD_EVENTS = GVR("", "v1", "events")


async def test_an_event_of_the_new_group_reads_as_it_was_made(client: Client) -> None:
    """With the times that Go writes as null."""
    event: Object = {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "note": "Seen",
        "regarding": {"namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z", "action": "See",
        "reason": "Test", "type": "Normal", "reportingController": "example.com/c", "reportingInstance": "one",
    }  # fmt: skip
    made = await client.create(EVENTS, event, namespace="default")

    assert await client.get(EVENTS, "e", namespace="default") == made
    assert made["deprecatedFirstTimestamp"] is None
    old = await client.get(OLD_EVENTS, "e", namespace="default")
    assert (old["firstTimestamp"], old["message"]) == (None, "Seen")
