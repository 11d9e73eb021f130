"""`explain`: the documentation of a resource's fields, from the OpenAPI that the server publishes.

Source of the behaviour: kubectl pkg/explain/v2 (its plaintext template).
"""

from __future__ import annotations

import textwrap

from engine.api.errors import ApiError
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import Aggregate, CommandError
from engine.kubectl.explaining import Explainer, Raw
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.verbs import explain_plain

WIDTH = 80
INDENT = 4


async def run(session: Session) -> None:
    flags = session.flags
    if not session.arguments:
        raise CommandError(
            f'You must specify the type of resource to explain. Use "{session.program} api-resources" for a complete '
            "list of supported resources."
        )
    if len(session.arguments) > 1:
        raise CommandError("We accept only this format: explain RESOURCE")
    if flags.text("output") not in ("plaintext", "plaintext-openapiv2"):
        raise CommandError(f"unrecognized format: {flags.text('output')}")
    word, *fields = session.arguments[0].split(".")
    resource, fields = await _resource(session, word, fields)
    explainer = Explainer(await _schemas(session, resource))
    plain = flags.text("output") == "plaintext-openapiv2"
    if not plain:  # its head stands even over a field that is not there
        _head(session, resource)
    schema = explainer.of_kind(resource)
    if schema is None:
        raise CommandError(f'Couldn\'t find resource for "{resource.gvk}"')
    name, node = "", schema
    for field in fields:
        found = explainer.fields(node).get(field)
        if found is None:
            raise CommandError(f'field "{field}" does not exist')
        name, node = field, found
    if plain:
        explain_plain.show(session, explainer, resource, name, node)
    else:
        _show(session, explainer, name, node)


def _show(session: Session, explainer: Explainer, name: str, node: Raw) -> None:
    if name:
        session.out(f"FIELD: {name} <{explainer.type_of(node)}>{explainer.enumeration(node)}\n\n")
    session.out("DESCRIPTION:")
    session.stdout.write(_description(explainer.descriptions(node), INDENT))
    session.out(" " * INDENT)
    depth = session.flags.number("max-depth") or None
    if listed := explainer.fields(node):
        session.out("FIELDS:")
        required = explainer.required(node)
        for field in sorted(listed):
            _field(session, explainer, field, listed[field], field in required, depth)
    session.out()


async def _resource(session: Session, word: str, fields: list[str]) -> tuple[Resource, list[str]]:
    """The resource; as many words after it as name its group are not fields."""
    try:
        resource = await session.resolve(word)
    except CommandError as error:
        for count in range(len(fields), 0, -1):
            try:
                found = await session.resolve(".".join([word, *fields[:count]]))
            except CommandError:
                continue
            return found, fields[count:]
        raise Aggregate([error]) from error
    if version := session.flags.text("api-version"):
        listed = await session.discovery.resources(session.client)
        group, _, short = version.rpartition("/")
        same = [r for r in listed if r.plural == resource.plural and (r.gvr.group, r.gvr.version) == (group, short)]
        if not same:
            raise CommandError(f'couldn\'t find resource for "{version}, Resource={resource.plural}"')
        resource = same[0]
    return resource, fields


async def _schemas(session: Session, resource: Resource) -> Raw:
    gvr = resource.gvr
    path = f"/openapi/v3/apis/{gvr.api_version}" if gvr.group else f"/openapi/v3/api/{gvr.version}"
    try:
        document = await session.request("GET", path)
    except ApiError as error:
        raise CommandError(f'couldn\'t find resource for "{gvr.api_version}, Resource={gvr.resource}"') from error
    schemas: Raw = document["components"]["schemas"]
    return schemas


def _head(session: Session, resource: Resource) -> None:
    if resource.gvr.group:
        session.out(f"GROUP:      {resource.gvr.group}")
    session.out(f"KIND:       {resource.kind}\nVERSION:    {resource.gvr.version}\n")


def _field(
    session: Session, explainer: Explainer, name: str, node: Raw, required: bool, depth: int | None, level: int = 1
) -> None:
    mark = " -required-" if required else ""
    session.out(f"{'  ' * level}{name}\t<{explainer.type_of(node)}>{mark}")
    if enumeration := explainer.enumeration(node, "  " * level):
        session.out(enumeration.lstrip("\n"))
    if not session.flags.on("recursive"):
        session.stdout.write(_description([str(node.get("description") or "<no description>")], INDENT))
        session.out()
        return
    if depth is not None and level >= depth:
        return
    inner = explainer.fields(node)
    needed = explainer.required(node)
    if explainer.enter(node):
        for field in sorted(inner):
            _field(session, explainer, field, inner[field], field in needed, depth, level + 1)
        explainer.leave(node)


def _description(texts: list[str], indent: int) -> str:
    """Wrapped paragraphs under an indent; a blank line of a text stays one, indented."""
    lines: list[str] = []
    for text in texts or ["<empty>"]:
        for paragraph in text.split("\n"):
            wrapped = textwrap.wrap(
                paragraph, WIDTH - INDENT, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
            )
            lines += wrapped or [""]
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


COMMAND = Command(
    name="explain",
    short="Get documentation for a resource",
    usage="TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group]",
    run=run,
    flags=(
        Flag("api-version", help="This group and version of the resource."),
        Flag("max-depth", Type.INT, help="How deep --recursive goes; 0 all the way."),
        Flag("output", default="plaintext", short="o", help='"plaintext".'),
        Flag("recursive", Type.BOOL, short="R", help="Show the fields of fields, without their descriptions."),
    ),
    examples=("explain deployment.spec",),
)
