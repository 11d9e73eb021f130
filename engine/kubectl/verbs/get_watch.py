"""`get -w` in the formats that print objects: first what there is, then each change until the watch ends.

Source of the behaviour: kubectl pkg/cmd/get/get.go (watch).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.types import Object
from engine.kubectl import yaml
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.last_applied import compact
from engine.kubectl.printers.objects import without_managed_fields
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import watch_objects

ONE_ONLY = "you may only watch a single resource or type of resource at a time"
Show = Callable[[Object], None]


async def watch(session: Session, resource: Resource, namespace: str, name: str, *, form: str, show: Show) -> None:
    """Show the objects of a resource, or the one that is named. `form` is the output format's name."""
    flags = session.flags
    keep = flags.on("show-managed-fields") or form not in ("json", "yaml", "kyaml")

    def tell(kind: str, obj: Object) -> None:
        if flags.on("output-watch-events") and form in ("json", "yaml"):
            event = {"type": kind, "object": obj}
            session.stdout.write(yaml.dump(event) if form == "yaml" else _event(kind, obj))
        else:
            show(obj if keep else without_managed_fields(obj))
        session.stdout.flush()

    fields = f"metadata.name={name}" if name else flags.text("field-selector").strip()
    selectors = {"labelSelector": "" if name else flags.text("selector").strip(), "fieldSelector": fields}
    path = session.path_of(resource, namespace, name or None)
    body = await session.request("GET", path, query={} if name else selectors)
    items = [body] if name else [*(body.get("items") or ())]
    if not flags.on("watch-only"):
        for item in items:
            tell("ADDED", {"apiVersion": resource.gvr.api_version, "kind": resource.kind, **item})
    version = (body.get("metadata") or {}).get("resourceVersion", "")
    async for kind, obj in watch_objects(session, resource, namespace, version=version, once=True, **selectors):
        tell(kind, obj)


def _event(kind: str, obj: Object) -> str:
    """An event is encoded as it is, in one line."""
    return f'{{"type":"{kind}","object":{compact(obj)}}}\n'


def require_one(count: int) -> None:
    if count > 1:
        raise CommandError(ONE_ONLY)
