"""`api-resources` and `api-versions`: what the server offers.

Source of the behaviour: kubectl pkg/cmd/apiresources.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.kubectl import yaml
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT
from engine.kubectl.printers import kyaml
from engine.kubectl.printers.objects import json_text, unknown_format
from engine.kubectl.printers.tabwriter import ColumnWriter
from engine.kubectl.session import Session
from engine.kubectl.undiscovered import UndiscoveredError


async def run_resources(session: Session) -> None:
    flags = session.flags
    if session.arguments:
        raise UsageError(f"unexpected arguments: [{' '.join(session.arguments)}]")
    output = flags.text("output")
    if output not in ("", "wide", "name", "json", "yaml", "kyaml"):
        raise unknown_format(output, "json,kyaml,name,wide,yaml")
    if flags.text("sort-by") not in ("", "name", "kind"):
        raise CommandError("--sort-by accepts only name or kind")
    if not flags.on("cached"):
        session.discovery.invalidate()
    found = [r for r in await session.discovery.resources(session.client) if _wanted(session, r)]
    found.sort(key=_order(flags.text("sort-by")))
    if output == "name":
        for resource in found:
            session.out(resource.gvr.group_resource)
        return
    if output in ("json", "yaml", "kyaml"):
        _structured(session, found, output)
        return
    rows = [_row(resource, wide=output == "wide") for resource in found]
    if not flags.on("no-headers"):
        headers = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
        rows.insert(0, [*headers, "VERBS", "CATEGORIES"] if output == "wide" else headers)
    for line in ColumnWriter().lines(rows):
        session.out(line)


def _wanted(session: Session, resource: Resource) -> bool:
    flags = session.flags
    if not resource.verbs or not resource.preferred:
        return False
    if flags.given("api-group") and flags.text("api-group") != resource.gvr.group:
        return False
    if flags.given("namespaced") and flags.on("namespaced") != resource.namespaced:
        return False
    return all(verb in resource.verbs for verb in flags.many("verbs")) and all(
        category in resource.categories for category in flags.many("categories")
    )


def _order(by: str) -> Callable[[Resource], tuple[str, ...]]:
    if by == "name":
        return lambda r: (r.plural,)
    if by == "kind":
        return lambda r: (r.kind,)
    return lambda r: (r.gvr.group, r.plural)


def _row(resource: Resource, *, wide: bool) -> list[str]:
    row = [
        resource.plural,
        ",".join(resource.short_names),
        resource.gvr.api_version,
        "true" if resource.namespaced else "false",
        resource.kind,
    ]
    return [*row, ",".join(resource.verbs), ",".join(resource.categories)] if wide else row


def _structured(session: Session, found: list[Resource], output: str) -> None:
    resources = []
    for r in found:
        entry = {
            "name": r.plural,
            "singularName": r.singular,
            "namespaced": r.namespaced,
            "group": r.gvr.group,
            "version": r.gvr.version,
            "kind": r.kind,
            "verbs": list(r.verbs),
            "shortNames": list(r.short_names),
            "categories": list(r.categories),
        }
        resources.append({key: value for key, value in entry.items() if value or key in ("namespaced", "singularName")})
    document = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "", "resources": resources or None}
    if output == "json":
        session.out(json_text(document, sort_keys=False))
    elif output == "kyaml":
        session.stdout.write(kyaml.dump(document, sort_keys=False))
    else:
        session.stdout.write(yaml.dump(document))


async def run_versions(session: Session) -> None:
    if session.arguments:
        raise UsageError(f"unexpected arguments: [{' '.join(session.arguments)}]")
    session.discovery.invalidate()
    try:
        versions = {r.gvr.api_version: None for r in await session.discovery.resources(session.client)}
    except UndiscoveredError as error:
        session.tell_undiscovered(error, 1)
        raise CommandError(f"couldn't get available api versions from server: {error.cause}") from error
    for version in sorted(versions):
        session.out(version)


RESOURCES = Command(
    name="api-resources",
    usage="[flags]",
    short="Print the supported API resources on the server",
    run=run_resources,
    flags=(
        *PRINT,
        Flag("api-group", help="Only this group."),
        Flag("cached", Type.BOOL, help="Use what was read before."),
        Flag("categories", Type.STRINGS, help="Only those in all of these categories."),
        Flag("namespaced", Type.BOOL, default=True, help="Only namespaced ones, or with =false only others."),
        Flag("no-headers", Type.BOOL, help="Leave out the headers."),
        Flag("sort-by", help='"name" or "kind".'),
        Flag("verbs", Type.STRINGS, help="Only those with all of these verbs."),
    ),
)
VERSIONS = Command(
    name="api-versions",
    short='Print the supported API versions on the server, in the form of "group/version"',
    run=run_versions,
)
