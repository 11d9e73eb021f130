"""`describe`: objects in words, by name, by the start of a name, or by selector.

Source of the behaviour: kubectl pkg/cmd/describe/describe.go.
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.describe import generic
from engine.kubectl.describe.registry import describer_for
from engine.kubectl.errors import Aggregate, CommandError, OtherNamespaceError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, SELECTOR, filename
from engine.kubectl.selection import Info, Selection, collect
from engine.kubectl.session import Session


async def run(session: Session) -> None:
    flags = session.flags
    if not session.arguments and not session.from_files:
        raise CommandError(
            f'You must specify the type of resource to describe. Use "{session.program} api-resources" for a '
            "complete list of supported resources."
        )
    selection = Selection.of_flags(session)
    selection.whole_types = True
    selection.fetch = not session.from_files  # a describer asks for the object itself
    found, unread = await collect(session, selection)
    errors = [_unread(unread)] if unread else []
    by_prefix = False
    if errors and not found and (matching := await _by_prefix(session, unread)):
        found, errors, by_prefix = matching, [], True
    pairs, _, names = ([], [], []) if session.from_files else split_arguments(session.arguments, session.program)
    named = not session.from_files
    one_missing = named and len(unread) == 1 and isinstance(unread[0], ApiError) and unread[0].reason == "NotFound"
    if (
        one_missing and "," in session.arguments[0] and len(session.arguments) == 2
    ):  # taken for the start of a name, of a single type
        raise CommandError("you may only specify a single resource type")
    if one_missing and len(pairs) == 2:
        found = []  # the second of two words is taken for the start of a name, of which there is none
    alone = len(found) == 1 and len(names) < 2 and len(pairs) < 2 and not by_prefix
    show_events = flags.on("show-events") and (flags.given("show-events") or alone)
    first = True
    for info in found:
        describer = describer_for(info.resource.gvr.group, info.resource.kind)
        try:
            if session.from_files:
                if not info.name and describer is generic.describe:  # that asks with a client of its own
                    raise CommandError("name is required")
                info.refresh(await session.get(info.resource, info.name, info.namespace))
            text = await describer(session, info.object, show_events=show_events)
        except (ApiError, CommandError) as error:
            errors.append(error)
            continue
        if not first and not by_prefix:
            session.out("\n")
        first = False
        session.stdout.write(f"{text}\n" if by_prefix else text)
    if errors:
        raise of(list({str(error): error for error in errors}.values()))
    if not found:
        session.err(
            "No resources found" if session.all_namespaces else f"No resources found in {session.namespace} namespace."
        )


def _unread(errors: list[Exception]) -> Exception:
    """What is not of the namespace is told of as it stands; all else as one failure among others."""
    return of(errors) if isinstance(errors[0], OtherNamespaceError) else Aggregate(errors)


async def _by_prefix(session: Session, errors: list[Exception]) -> list[Info]:
    """The objects whose names start with the one that was not found."""
    _, types, names = split_arguments(session.arguments, session.program)
    not_found = all(isinstance(error, ApiError) and error.reason == "NotFound" for error in errors)
    if not not_found or len(types) != 1 or len(names) != 1 or session.from_files:
        return []
    session.warnings.clear()  # it is looked up anew, and what else a short name could be is told again
    resource = await session.resolve(types[0])
    namespace = session.namespace if resource.namespaced else ""
    listed = await session.list(resource, namespace)
    return [
        Info(resource, obj["metadata"].get("namespace", ""), obj["metadata"]["name"], object=obj)
        for obj in listed
        if obj["metadata"]["name"].startswith(names[0])
    ]


COMMAND = Command(
    name="describe",
    short="Show details of a specific resource or group of resources",
    usage="(-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)",
    run=run,
    flags=(
        *filename(),
        *SELECTOR,
        *ALL_NAMESPACES,
        Flag("chunk-size", Type.INT, default=500, help="How many objects to ask for at once."),
        Flag("show-events", Type.BOOL, default=True, help="Show the events of the object."),
    ),
    examples=("describe pod web-x2k9p", "describe nodes", "describe deployment/web"),
)
