"""`events`: what happened, the newest last.

Source of the behaviour: kubectl pkg/cmd/events (events.go, event_printer.go).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.describe.events import EVENTS, interval
from engine.kubectl.describe.writer import Page
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import BareError, CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, PRINT
from engine.kubectl.printers.objects import structured_printer, unknown_format, without_managed_fields
from engine.kubectl.printers.tabwriter import ColumnWriter
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import watch_objects

CHUNK = 500
HEADER = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]


async def run(session: Session) -> None:
    flags = session.flags
    for kind in flags.many("types"):
        if kind.lower() not in ("normal", "warning"):
            raise CommandError("valid --types are Normal or Warning")
    # a template alone counts for nothing, as in kubectl
    structured = structured_printer(session, typed=True) if flags.text("output") else None
    by_name = session.flags.text("output") == "name"
    if session.flags.text("output") and structured is None and not by_name:
        raise unknown_format(session.flags.text("output"))
    resource = EVENTS
    namespace = "" if session.all_namespaces else session.namespace
    selector = await _selector(session)
    if flags.on("watch"):
        await _watch(session, resource, namespace, selector, structured)
        return
    listed = await _list(session, resource, namespace, selector)
    found = sorted((event for event in listed if _wanted(session, event)), key=_last_seen)
    if by_name and found:
        return  # kubectl names nothing: what it has is one list
    if structured and found:
        items = [without_managed_fields(event) for event in found]
        structured({"apiVersion": "v1", "kind": "EventList", "metadata": {}, "items": items})
    elif not found:
        where = "" if session.all_namespaces else f" in {session.namespace} namespace"
        session.err(f"No events found{where}.")
    else:
        _Lines(session).show(found)


async def _list(session: Session, resource: Resource, namespace: str, selector: str) -> list[Object]:
    """All events, chunk by chunk."""
    path, found, token = session.path_of(resource, namespace), [], ""
    while True:
        # what --chunk-size says counts for nothing, as in kubectl
        query = {"fieldSelector": selector, "limit": CHUNK, "continue": token}
        body = await session.request("GET", path, query=query)
        found += [{"apiVersion": "v1", "kind": "Event", **item} for item in body.get("items") or ()]
        if not (token := body.get("metadata", {}).get("continue", "")):
            return found


def _last_seen(event: Object) -> str:
    """When an event was last seen, "" where nothing says so; in microseconds, so that it can be compared."""
    series = event.get("series")
    seen = series.get("lastObservedTime") if series else event.get("lastTimestamp") or event.get("eventTime")
    text = str(seen or "")
    return text if "." in text else text.replace("Z", ".000000Z")


async def _watch(
    session: Session, resource: Resource, namespace: str, selector: str, structured: Callable[[Object], None] | None
) -> None:
    """The events that there are, as the server tells of them when a watch begins, then each that comes."""
    lines = _Lines(session)
    changes = watch_objects(session, resource, namespace, fieldSelector=selector, limit=CHUNK, once=True)
    async for kind, event in changes:
        if kind == "DELETED" or not _wanted(session, event):
            continue
        if structured:
            structured(without_managed_fields(event))
        elif session.flags.text("output") == "name":
            session.out(resource.named(event["metadata"]["name"]))
        else:
            lines.show([event])
        session.stdout.flush()


async def _selector(session: Session) -> str:
    """The field selector of `--for TYPE/NAME`."""
    target = session.flags.text("for")
    if not target:
        return ""
    word, slash, name = target.partition("/")
    if not slash:
        raise CommandError("--for must be in resource/name form")
    if "/" in name:
        raise CommandError("arguments in resource/name form may not have more than one slash")
    if not word:
        raise CommandError("a resource must be present, got: /, Resource=")
    try:
        resource = await session.resolve(word)
    except CommandError as error:
        raise BareError(str(error).replace(word, word.lower())) from error
    if not name:
        return ""
    return (
        f"involvedObject.kind={resource.kind},involvedObject.apiVersion={resource.gvr.api_version},"
        f"involvedObject.name={name}"
    )


def _wanted(session: Session, event: Object) -> bool:
    types = [kind.lower() for kind in session.flags.many("types")]
    return not types or str(event.get("type", "")).lower() in types


class _Lines:
    """The table, which goes on in a watch."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._writer = ColumnWriter()
        self._headers = not session.flags.on("no-headers")

    def show(self, events: list[Object]) -> None:
        page = Page(self._session.now)
        rows = [self._row(page, event) for event in events]
        if self._headers:
            rows.insert(0, ["NAMESPACE", *HEADER] if self._session.all_namespaces else HEADER)
            self._headers = False
        for line in self._writer.lines(rows):
            self._session.out(line)

    def _row(self, page: Page, event: Object) -> list[str]:
        about = event.get("involvedObject") or {}
        row = [
            interval(page, event),
            event.get("type", ""),
            event.get("reason", ""),
            f"{about.get('kind', '')}/{about.get('name', '')}",
            str(event.get("message", "")).strip(),
        ]
        return [event["metadata"].get("namespace", ""), *row] if self._session.all_namespaces else row


COMMAND = Command(
    name="events",
    short="List events",
    usage=(
        "[(-o|--output=)json|yaml|kyaml|name|go-template|go-template-file|template|templatefile|jsonpath|"
        "jsonpath-as-json|jsonpath-file] [--for TYPE/NAME] [--watch] [--types=Normal,Warning]"
    ),
    run=run,
    interrupted=1,
    flags=(
        *PRINT,
        *ALL_NAMESPACES,
        Flag("chunk-size", Type.INT, default=500, help="How many objects to ask for at once."),
        Flag("for", help="Only those about TYPE/NAME."),
        Flag("no-headers", Type.BOOL, help="Leave out the headers."),
        Flag("types", Type.STRINGS, help="Only Normal or Warning ones."),
        Flag("watch", Type.BOOL, short="w", help="Go on with new events."),
    ),
)
