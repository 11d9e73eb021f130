"""`get`: objects as the server's tables, or as `-o` says; `-w` goes on with what changes.

Source of the behaviour: kubectl pkg/cmd/get/get.go, sorter.go.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.arguments import split_arguments
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import Aggregate, CommandError, Exit, OtherNamespaceError, UsageError, flat, of
from engine.kubectl.fetching import list_error, require_namespace, require_there
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, FIELD_SELECTOR, PRINT, SELECTOR, filename
from engine.kubectl.printers.custom_columns import CustomColumns
from engine.kubectl.printers.objects import (
    FORMATS,
    split_format,
    structured_printer,
    unknown_format,
    without_managed_fields,
)
from engine.kubectl.printers.sorting import sort_objects
from engine.kubectl.printers.tables import TableOptions, TablePrinter, plain_table
from engine.kubectl.selection import MISSING, Info, Selection, infos, is_one_file
from engine.kubectl.session import TABLE, Session
from engine.kubectl.verbs import get_watch
from engine.kubectl.verbs.get_sorted import in_order, sort_table, warn_if_watching
from engine.kubectl.verbs.get_targets import Target, not_found, targets_of
from engine.kubectl.verbs.raw import raw
from engine.kubectl.verbs.watching import watch_objects

ALLOWED = "custom-columns,custom-columns-file," + FORMATS.replace(",yaml", ",wide,yaml")


async def run(session: Session) -> None:
    flags = session.flags
    watching = flags.on("watch") or flags.on("watch-only")
    if not flags.text("raw"):
        warn_if_watching(session)
    if not session.arguments and not session.from_files and not flags.text("raw"):
        if watching:
            raise CommandError(MISSING)
        session.err(
            f'You must specify the type of resource to get. Use "{session.program} api-resources" for a complete list '
            "of supported resources.\n"
        )
        raise UsageError(
            "Required resource not specified.\n"
            f'Use "{session.program} explain <resource>" for a detailed description of that resource '
            f"(e.g. {session.program} explain pods)."
        )
    if path := flags.text("raw"):
        _check_raw(session)
        _check_events(session)
        await raw(session, "GET", path)
        return
    _check_flags(session)
    if (output := flags.text("output")) == "wide" or (not output and not flags.text("template")):
        await _tables(session, wide=output == "wide")
    else:
        await _structured(session)


def _check_flags(session: Session) -> None:
    flags = session.flags
    output = flags.text("output")
    if flags.on("show-labels") and output not in ("", "wide"):
        raise CommandError(f"--show-labels option cannot be used with {output} printer")
    if flags.many("label-columns") and output.startswith("custom-columns"):
        raise CommandError(f"--label-columns option cannot be used with {output} printer")
    _check_events(session)
    if flags.text("subresource") and not _watches(session):
        _, types, names = split_arguments(session.arguments, session.program)
        if types and not names:
            raise CommandError("subresource cannot be used when bulk resources are specified")


def _watches(session: Session) -> bool:
    return session.flags.on("watch") or session.flags.on("watch-only")


def _check_events(session: Session) -> None:
    if session.flags.on("output-watch-events") and not _watches(session):
        raise CommandError("--output-watch-events option can only be used with --watch or --watch-only")


def _check_raw(session: Session) -> None:
    flags = session.flags
    if session.arguments:
        raise CommandError("arguments may not be passed when --raw is specified")
    if any(flags.on(name) for name in ("watch", "watch-only")) or flags.text("selector"):
        raise CommandError(
            "--raw may not be specified with other flags that filter the server request or alter the output"
        )
    if flags.text("output"):
        raise CommandError("--raw and --output are mutually exclusive")


# -- tables


async def _tables(session: Session, *, wide: bool) -> None:
    wanted = await targets_of(session)
    errors: list[Exception] = [item for item in wanted if isinstance(item, Exception)]
    several = len({item.resource.gvk for item in wanted if isinstance(item, Target)}) > 1
    watching = _watches(session)
    if watching and (several or errors):
        raise errors[0] if errors else CommandError("you may only specify a single resource type")
    errors = []
    printed = 0
    tables: list[tuple[Target, Object]] = []
    printers: dict[Resource, TablePrinter] = {}
    pending: list[str] = []
    for item in wanted:
        if isinstance(item, Exception):
            errors += [item] if not session.flags.on("ignore-not-found") else _but_not_found(item, whole=False)
            continue
        try:
            tables.append((item, await _table(session, item)))
        except (ApiError, OtherNamespaceError) as error:
            if not (not_found(error) and item.name and session.flags.on("ignore-not-found")):
                errors.append(error)
    several = several and len({target.resource.gvk for target, _ in tables}) > 1
    spaced = False  # stays on for all that follow: kubectl's copies of its print flags share the one setting
    for target, table in tables if watching else in_order(session, tables):
        sort_table(session, table)
        version = table.get("metadata", {}).get("resourceVersion", "")
        new = target.resource not in printers
        if new:
            spaced = session.all_namespaces and (spaced or target.resource.namespaced)
            printers[target.resource] = _printer(session, target.resource, wide=wide, several=several, spaced=spaced)
        if table.get("rows") and not session.flags.on("watch-only"):
            if new and printed and not session.flags.on("no-headers"):
                pending.append("")
            pending += printers[target.resource].lines(table, event="ADDED")
            printed += len(table["rows"])
        if watching and len(tables) == 1:
            _flush(session, pending)
            session.stdout.flush()  # what comes may be long in coming
            await _watch_table(session, target, printers[target.resource], version)
            return
    _flush(session, pending)
    if errors:
        raise Aggregate(errors)
    if watching:
        get_watch.require_one(len(tables))
    if not printed and not session.flags.on("ignore-not-found"):
        _nothing_found(session, [item.resource for item in wanted if isinstance(item, Target)])


def _flush(session: Session, lines: list[str]) -> None:
    for line in lines:
        session.out(line.rstrip(" ") if not line.strip() else line)
    lines.clear()


def _nothing_found(session: Session, resources: list[Resource]) -> None:
    of_cluster = session.flags.on("server-print") and not all(resource.namespaced for resource in resources)
    if session.all_namespaces or of_cluster:
        session.err("No resources found")
    else:
        session.err(f"No resources found in {session.namespace} namespace.")


async def _table(session: Session, target: Target) -> Object:
    """The table of a target, in chunks put together."""
    if target.given is not None:
        return plain_table(target.given, session.now)
    query: dict[str, object] = {}
    flags = session.flags
    if flags.text("sort-by"):
        query["includeObject"] = "Object"
    if not target.name:
        query |= {
            "labelSelector": flags.text("selector").strip(),
            "fieldSelector": flags.text("field-selector").strip(),
            "limit": flags.number("chunk-size") or None,
        }
    if target.name:
        subresource = "" if session.from_files else session.flags.text("subresource")
        path = session.path_of(target.resource, target.namespace, target.name, subresource)
    else:
        path = session.path_of_list(target.resource, target.namespace)
    printed = session.flags.on("server-print")
    headers = {"accept": TABLE} if printed else {}
    try:
        table: Object = await session.request("GET", path, query=query, headers=headers)
    except ApiError as error:
        if not target.name:
            raise list_error(error, target.resource, flags.text("selector"), flags.text("field-selector")) from error
        await require_there(session, target.namespace, error)
        raise
    if session.from_files and session.namespace_given:
        require_namespace(session, target.resource, target.namespace)
    if not printed:
        table = plain_table(table, session.now)
    rows = list(table.get("rows") or ())
    while token := table.get("metadata", {}).get("continue"):
        more = await session.request("GET", path, query={**query, "continue": token}, headers=headers)
        more = more if printed else plain_table(more, session.now)
        rows += more.get("rows") or ()
        table = {**table, "metadata": more.get("metadata", {})}
    return {**table, "rows": rows}


def _printer(session: Session, resource: Resource, *, wide: bool, several: bool, spaced: bool) -> TablePrinter:
    kind = resource.kind.lower()
    prefix = f"{kind}.{resource.gvr.group}" if resource.gvr.group else kind
    return TablePrinter(
        TableOptions(
            wide=wide,
            headers=not session.flags.on("no-headers"),
            namespace=spaced,
            labels=session.flags.on("show-labels"),
            label_columns=session.flags.many("label-columns"),
            kind=prefix if several or session.flags.on("show-kind") else "",
            event=session.flags.on("output-watch-events"),
        )
    )


async def _watch_table(session: Session, target: Target, printer: TablePrinter, version: str) -> None:
    async for kind, table in watch_objects(
        session,
        target.resource,
        target.namespace,
        name=target.name,
        version=version,
        accept=TABLE,
        once=True,
        labelSelector="" if target.name else session.flags.text("selector").strip(),
        fieldSelector="" if target.name else session.flags.text("field-selector").strip(),
    ):
        for line in printer.lines(table, event=kind):
            session.out(line)
        session.stdout.flush()


# -- objects


async def _structured(session: Session) -> None:
    """What cannot be read is told before a format that is none."""
    watching = _watches(session)
    if watching:
        await _watch_structured(session)
        return
    found, errors, single = await _objects(session)
    if errors and single:
        raise of(errors)
    if errors and not found and session.flags.on("ignore-not-found"):
        raise of(flat(errors))
    name, columns, printer = _printer_of(session)
    if (path := session.flags.text("sort-by")) and not single:
        order = sort_objects([info.object for info in found], path)
        found = [found[index] for index in order]
    keep = session.flags.on("show-managed-fields") or name not in ("json", "yaml", "kyaml")
    shown = [info.object if keep else without_managed_fields(info.object) for info in found]
    if columns is not None:
        for line in columns.lines(shown):
            session.out(line)
    elif printer is None:
        for info in found:
            session.out(info.resource.named(info.name or "<unknown>"))
    elif single:
        printer(shown[0])
    else:
        printer({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": shown})
    if errors:
        raise of(flat(errors))


def _printer_of(session: Session) -> tuple[str, CustomColumns | None, Callable[[Object], None] | None]:
    """The format, and its columns or its printer; names have neither. Raises CommandError for one that is none."""
    name, template = split_format(session)
    printer = structured_printer(session)
    columns = _columns(session, name, template)
    if columns is None and printer is None and name != "name":
        raise unknown_format(session.flags.text("output"), ALLOWED)
    return name, columns, printer


async def _watch_structured(session: Session) -> None:
    wanted = await targets_of(session)
    targets = [item for item in wanted if isinstance(item, Target)]
    for item in wanted:
        if isinstance(item, Exception):
            raise item
    if len({target.resource.gvk for target in targets}) > 1:
        raise CommandError("you may only specify a single resource type")
    get_watch.require_one(len(targets))
    target = targets[0]
    form, columns, printer = _printer_of(session)

    def show(obj: Object) -> None:
        if columns is not None:
            for line in columns.lines([obj]):
                session.out(line)
        elif printer is None:
            session.out(target.resource.named(obj["metadata"]["name"]))
        else:
            printer(obj)

    await get_watch.watch(session, target.resource, target.namespace, target.name, form=form, show=show)


def _columns(session: Session, name: str, template: str) -> CustomColumns | None:
    headers = not session.flags.on("no-headers")
    if name == "custom-columns":
        return CustomColumns.parse(template, headers=headers)
    return CustomColumns.from_file(template) if name == "custom-columns-file" else None


async def _objects(session: Session) -> tuple[list[Info], list[Exception], bool]:
    selection = Selection.of_flags(session)
    selection.whole_types = True
    selection.subresource = session.flags.text("subresource")
    found: list[Info] = []
    errors: list[Exception] = []
    async for item in infos(session, selection):
        if isinstance(item, Info):
            found.append(item)
        elif session.flags.on("ignore-not-found"):
            errors += _but_not_found(item, whole=_is_single(session))
        else:
            errors.append(item)
    single = _is_single(session)
    if not found and not errors and session.flags.on("ignore-not-found"):
        raise Exit(0)
    return found, errors, single and (bool(errors) or len(found) == 1)


def _but_not_found(error: Exception, *, whole: bool) -> list[Exception]:
    """What is left of an error, or of those of one list, when objects need not be there. `whole`: of one file."""
    if isinstance(error, Aggregate):
        left = [one for one in error.errors if not not_found(one)]
        return [Aggregate(left) if whole else of(left)] if left else []
    return [] if not_found(error) else [error]


def _is_single(session: Session) -> bool:
    """Whether the words mean one object: it is shown as it is, and where it cannot be, nothing is shown."""
    if session.from_files:
        return is_one_file(Selection.of_flags(session))
    pairs, _, names = split_arguments(session.arguments, session.program)
    return len(pairs) == 1 or len(names) == 1


COMMAND = Command(
    name="get",
    short="Display one or many resources",
    usage=(
        "[(-o|--output=)json|yaml|kyaml|name|go-template|go-template-file|template|templatefile|jsonpath|jsonpath-as-json|"
        "jsonpath-file|custom-columns|custom-columns-file|wide] (TYPE[.VERSION][.GROUP] [NAME | -l label] | "
        "TYPE[.VERSION][.GROUP]/NAME ...) [flags]"
    ),
    run=run,
    interrupted=1,
    flags=(
        *filename(),
        *PRINT,
        *SELECTOR,
        *FIELD_SELECTOR,
        *ALL_NAMESPACES,
        Flag("chunk-size", Type.INT, default=500, help="How many objects to ask for at once."),
        Flag("ignore-not-found", Type.BOOL, help="Say nothing of objects that are not there."),
        Flag("label-columns", Type.STRINGS, short="L", help="Labels to show as columns."),
        Flag("no-headers", Type.BOOL, help="Leave out the headers."),
        Flag("output-watch-events", Type.BOOL, help="Show the type of a watch's events."),
        Flag("raw", help="Ask for this path as it is."),
        Flag("server-print", Type.BOOL, default=True, help="Let the server make the tables."),
        Flag("show-kind", Type.BOOL, help="Show the kind before each name."),
        Flag("show-labels", Type.BOOL, help="Show all labels in a last column."),
        Flag("sort-by", help="Sort by this field, a JSONPath."),
        Flag("subresource", help="The subresource to show."),
        Flag("watch", Type.BOOL, short="w", help="Go on with changes after the list."),
        Flag("watch-only", Type.BOOL, help="Show changes only."),
    ),
    examples=("get pods -o wide", "get deploy,rs,pods -A", "get deployment/web -o yaml", "get pods -w"),
)
