"""`explain`: the documentation of a resource's fields, from the OpenAPI that the server publishes.

Source of the behaviour: kubectl pkg/cmd/explain and pkg/explain (explain.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import GVK
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import Aggregate, CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.verbs.explain_plain import FieldError, PlainText
from engine.kubectl.verbs.explain_template import Template

Raw = Mapping[str, Any]
# Of a JSONPath none but fields may be there.
_NO_FIELDS = re.compile(r"^\.|\.\.|[\[* ]")


async def run(session: Session) -> None:
    flags = session.flags
    if not session.arguments:
        raise CommandError(
            f'You must specify the type of resource to explain. Use "{session.program} api-resources" for a complete '
            "list of supported resources."
        )
    if len(session.arguments) > 1:
        raise CommandError("We accept only this format: explain RESOURCE")
    depth = _depth(session)
    if flags.text("output") not in ("plaintext", "plaintext-openapiv2"):
        raise CommandError(f"unrecognized format: {flags.text('output')}")
    resource, fields = await _resource(session, session.arguments[0])
    if flags.text("output") == "plaintext-openapiv2":
        await _show_plain(session, resource, fields, depth)
    else:
        await _show(session, resource, fields, depth)


def _depth(session: Session) -> int | None:
    depth = session.flags.number("max-depth")
    if depth < 0:
        raise CommandError("--max-depth must be non-negative")
    if depth and not session.flags.on("recursive"):
        raise CommandError("--max-depth requires --recursive")
    return depth or None


async def _resource(session: Session, text: str) -> tuple[Resource, list[str]]:
    """The resource and the fields that follow it, or follow the group that it is given with."""
    if text in ("", "."):
        raise CommandError("a resource must be present, got: /, Resource=")
    if _NO_FIELDS.search(text):
        raise CommandError("invalid jsonpath syntax, first node must be field node")
    text = text.removesuffix(".")
    word, _, rest = text.partition(".")
    try:
        resource = await session.resolve(word)
    except CommandError as error:
        raise Aggregate([error]) from error
    listed = await session.discovery.resources(session.client)
    for other in [resource, *(each for each in listed if each.plural == resource.plural)]:
        if text.startswith(other.gvr.group_resource):
            resource, rest = other, text[len(other.gvr.group_resource) :].lstrip(".")
            break
    fields = rest.split(".") if rest else []
    if version := session.flags.text("api-version"):
        if version.count("/") > 1:
            raise CommandError(f"unexpected GroupVersion string: {version}")
        resource = _of_version(session, listed, resource, version)
    return resource, fields


def _of_version(session: Session, listed: Iterable[Resource], resource: Resource, version: str) -> Resource:
    group, _, short = version.rpartition("/")
    same = {each.plural: each for each in listed if (each.gvr.group, each.gvr.version) == (group, short)}
    if resource.plural in same:
        return same[resource.plural]
    if session.flags.text("output") == "plaintext-openapiv2":
        raise _unknown_kind(GVK(group, short, resource.kind))
    if same:
        raise CommandError(f"GVR ({group}/{short}, Resource={resource.plural}) not found in OpenAPI schema")
    raise CommandError(f'couldn\'t find resource for "{group}/{short}, Resource={resource.plural}"')


async def _show(session: Session, resource: Resource, fields: list[str], depth: int | None) -> None:
    gvr = resource.gvr
    path = f"/openapi/v3/apis/{gvr.api_version}" if gvr.group else f"/openapi/v3/api/{gvr.version}"
    try:
        document = await session.request("GET", path)
    except ApiError as error:
        raise CommandError(
            f'couldn\'t find resource for "{gvr.group}/{gvr.version}, Resource={gvr.resource}"'
        ) from error
    schemas: Mapping[str, Raw] = document["components"]["schemas"]
    if gvr.group:
        session.out(f"GROUP:      {gvr.group}")
    session.out(f"KIND:       {resource.kind}\nVERSION:    {gvr.version}\n")
    schema = _of_kind(schemas, resource.gvk)
    if schema is None:
        raise _unknown_kind(resource.gvk)
    told = Template(schemas, recursive=session.flags.on("recursive"), depth=depth).document(schema, fields)
    if not told:  # its head stands even over a field that is not there
        raise CommandError(f'field "{fields[-1]}" does not exist')
    session.out(told)


async def _show_plain(session: Session, resource: Resource, fields: list[str], depth: int | None) -> None:
    document = await session.request("GET", "/openapi/v2")
    definitions: Mapping[str, Raw] = document["definitions"]
    schema = _of_kind(definitions, resource.gvk)
    if schema is None:
        raise _unknown_kind(resource.gvk)
    text = PlainText(definitions, recursive=session.flags.on("recursive"), depth=depth)
    try:
        field = text.field(schema, fields)
    except FieldError as error:
        raise CommandError(str(error)) from error
    session.out(f"KIND:     {resource.kind}\nVERSION:  {resource.gvr.api_version}\n")
    for line in text.lines(field, fields[-1] if fields else ""):
        session.out(line)


def _of_kind(schemas: Mapping[str, Raw], gvk: GVK) -> Raw | None:
    wanted = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    kinds = (schemas[name] for name in sorted(schemas))
    return next((each for each in kinds if wanted in (each.get("x-kubernetes-group-version-kind") or ())), None)


def _unknown_kind(gvk: GVK) -> CommandError:
    return CommandError(f'couldn\'t find resource for "{gvk.group}/{gvk.version}, Kind={gvk.kind}"')


COMMAND = Command(
    name="explain",
    short="Get documentation for a resource",
    usage=(
        "TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group] [-o|--output=plaintext|plaintext-openapiv2]"
    ),
    run=run,
    flags=(
        Flag("api-version", help="This group and version of the resource."),
        Flag("max-depth", Type.INT, help="How deep --recursive goes; 0 all the way."),
        Flag("output", default="plaintext", short="o", help='"plaintext".'),
        Flag("recursive", Type.BOOL, short="R", help="Show the fields of fields, without their descriptions."),
    ),
    examples=("explain deployment.spec",),
)
