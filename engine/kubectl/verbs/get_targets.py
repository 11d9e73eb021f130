"""What `get` asks the server for: collections and objects, by the words of a command or by its manifests.

Source of the behaviour: kubectl pkg/cmd/get/get.go and cli-runtime pkg/resource/builder.go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.arguments import split_arguments
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.selection import Info, Selection, infos, no_namespace
from engine.kubectl.session import Session


@dataclass(slots=True)
class Target:
    """One request for a table: a collection, or one object by name. A manifest without a name is asked for nowhere,
    and shown as it is given."""

    resource: Resource
    namespace: str
    name: str = ""
    given: Object | None = None


def not_found(error: Exception) -> bool:
    return isinstance(error, ApiError) and error.reason == "NotFound"


async def targets_of(session: Session) -> list[Target | Exception]:
    if not session.from_files:
        return await targets_of_arguments(session)
    found: list[Target | Exception] = []
    selection = replace(Selection.of_flags(session), fetch=False, require_namespace=False)
    if selection.selector:  # is asked of what the server answers
        selection = replace(selection, fetch=True, tables=session.flags.on("server-print"))
    async for item in infos(session, selection):
        if isinstance(item, Info) and not item.name:
            found.append(Target(item.resource, item.namespace, given=item.object))
        elif isinstance(item, Info) and item.resource.namespaced and not item.namespace:
            found.append(no_namespace(item))
        elif isinstance(item, Info):
            found.append(Target(item.resource, item.namespace, item.name))
        else:
            found.append(item)
    return found


async def targets_of_arguments(session: Session) -> list[Target | Exception]:
    pairs, types, names = split_arguments(session.arguments, session.program)
    selecting = bool(session.flags.text("selector").strip() or session.flags.text("field-selector").strip())
    if selecting and pairs:
        raise CommandError("selectors and the all flag cannot be used when passing resource/name arguments")
    if selecting and names:
        raise CommandError("name cannot be provided when a selector is specified")
    nameless = [CommandError("resource name may not be empty") for name in names if not name]
    if nameless and len(names) == 1:
        raise nameless[0]
    found: list[Target | Exception] = [*nameless]
    names = [name for name in names if name]
    for word, name in pairs or [(t, n) for t in types for n in names or ([] if nameless else [""])]:
        expanded = await session.discovery.category(session.client, word)
        if name and len(expanded) > 1:
            raise CommandError("you must specify only one resource")
        for resource in expanded or [await session.resolve(word)]:
            namespace = session.namespace if resource.namespaced and not session.all_namespaces else ""
            if name and resource.namespaced and session.all_namespaces:
                raise CommandError("a resource cannot be retrieved by name across all namespaces")
            target = Target(resource, namespace, name)
            if name or target not in found:  # what is named twice is shown twice
                found.append(target)
    return found
