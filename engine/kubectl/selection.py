"""Which objects a command is about: by file, by `TYPE NAME`, by `TYPE/NAME` or by selector (hop 01).

Source of the behaviour: cli-runtime pkg/resource/builder.go, error texts included.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, Object
from engine.kubectl import decoding, manifests
from engine.kubectl.arguments import split_arguments
from engine.kubectl.discovery import NoMatchError, Resource
from engine.kubectl.errors import Aggregate, CommandError, OtherNamespaceError, of
from engine.kubectl.fetching import listed, live, require_namespace
from engine.kubectl.remote_manifests import fetched
from engine.kubectl.scheme import check_registered, check_typed
from engine.kubectl.session import Session
from engine.kubectl.undiscovered import UndiscoveredError
from engine.kubectl.validation import check

MISSING = (
    "You must provide one or more resources by argument or filename.\n"
    "Example resource specifications include:\n"
    "   '-f rsrc.yaml'\n"
    "   '--filename=rsrc.json'\n"
    "   '<resource> <name>'\n"
    "   '<resource>'"
)

LOCAL = (
    "you must specify resources by --filename when --local is set.\n"
    "Example resource specifications include:\n"
    "   '-f rsrc.yaml'\n"
    "   '--filename=rsrc.json'"
)


@dataclass(slots=True)
class Info:
    """One object of a command: what it is, where it came from, and, once it is known, the object itself."""

    resource: Resource
    namespace: str
    name: str
    source: str = ""
    object: Object = field(default_factory=dict)
    local: bool = False  # read of a manifest without the server, which knows no plural

    @property
    def where(self) -> str:
        """As failures of `set` name an object: `configmaps/web`, of a manifest alone `configmap/web`, and there, where
        it is of a group, with that and, as upstream has it, the end of a line."""
        if not self.local:
            return f"{self.resource.plural}/{self.name}"
        kind, group = self.resource.kind.lower(), self.resource.gvr.group
        return f"{kind}.{group}/{self.name}\n" if group else f"{kind}/{self.name}"

    @property
    def named(self) -> str:
        return self.resource.named(self.name)

    def refresh(self, obj: Object) -> None:
        """Take over what the server answered, where that is the object and not a mere Status."""
        if obj.get("kind") == "Status" and self.resource.kind != "Status":
            return
        self.object = obj
        self.name = obj.get("metadata", {}).get("name", self.name)


@dataclass(slots=True)
class Selection:
    """What the builder is told. `fetch` asks the server for objects that are named or come from files."""

    arguments: Sequence[str] = ()
    files: Sequence[str] = ()
    kustomize: str = ""  # the folder of a kustomization
    recursive: bool = False
    selector: str = ""
    field_selector: str = ""
    everything: bool = False  # --all of delete: there must be no names
    whole_types: bool = False  # a type alone means all of its objects (--all elsewhere)
    fetch: bool = True
    typed: bool = False  # decoded as kubectl's own types: a kind that it has none for is refused
    local: bool = False  # manifests as they stand: nothing is asked of the server, no namespace filled in
    require_namespace: bool = False
    default_namespace: bool = True  # what names no namespace is of that of the command
    validate: str = ""  # "" for no check of manifests
    verb: str = "get"
    subresource: str = ""
    single_type: bool = False
    chunk: int = 0
    tables: bool = False  # the server answers with tables, whose labels a selector looks at: they have none

    @property
    def of_manifests(self) -> bool:
        return bool(self.files or self.kustomize)

    @classmethod
    def of_flags(cls, session: Session, *, arguments: Sequence[str] | None = None, verb: str = "get") -> Selection:
        """The usual flags of a command: -f, -R, -l, --field-selector, --all, -n."""
        flags = session.flags
        kustomize = flags.text("kustomize") if "kustomize" in flags else ""
        if kustomize:
            _check_kustomize(session)
        return cls(
            arguments=session.arguments if arguments is None else arguments,
            files=flags.many("filename"),
            kustomize=kustomize,
            recursive=flags.on("recursive"),
            selector=flags.text("selector").strip(),
            field_selector=flags.text("field-selector").strip(),
            everything=flags.on("all") and verb == "delete",
            whole_types=flags.on("all"),
            default_namespace=not session.all_namespaces,
            require_namespace=session.namespace_given,
            verb=verb,
        )


def _check_kustomize(session: Session) -> None:
    """What -k cannot be given with. Raises CommandError, Aggregate."""
    problems: list[Exception] = []
    if session.flags.many("filename"):
        problems.append(CommandError("only one of -f or -k can be specified"))
    if session.flags.on("recursive"):
        problems.append(CommandError("the -k flag can't be used with -f or -R"))
    if problems:
        raise of(problems)


Item = Info | Exception
DISCOVERY, SCHEMA = "/api?", "/openapi/v2?"


async def visit(
    session: Session,
    selection: Selection,
    action: Callable[[Info], Awaitable[None]],
    *,
    stop_at_error: bool = False,
) -> int:
    """Do `action` with each object; goes on after a failure and raises all at the end. Returns how many there were.

    What is wrong with the manifests is told of last, as kubectl's EagerVisitorList keeps it until then.
    """
    errors: list[Exception] = []
    unread: list[Exception] = []
    count = 0
    async for item in infos(session, selection):
        if isinstance(item, Info):
            count += 1
            session.working_on(item.resource, item.name, item.namespace)
            try:
                await action(item)
            except (ApiError, CommandError) as error:
                if stop_at_error:
                    raise
                errors.append(error)
        elif stop_at_error:
            raise item
        elif selection.of_manifests and not isinstance(item, OtherNamespaceError):
            unread.append(item)
        else:
            errors.append(item)
    if unread:
        errors.append(Aggregate(unread) if errors else of(unread))
    if errors:
        raise of(errors)
    return count


async def each(
    found: Iterable[Info], action: Callable[[Info], Awaitable[None]], problems: Sequence[Exception] = ()
) -> None:
    """Do `action` with each object; goes on after a failure and raises all at the end, after `problems` that were met
    meanwhile."""
    errors: list[Exception] = []
    for info in found:
        try:
            await action(info)
        except (ApiError, CommandError) as error:
            errors.append(error)
    if problems or errors:
        raise of([*problems, *errors])


async def collect(session: Session, selection: Selection) -> tuple[list[Info], list[Exception]]:
    """All objects, and all failures to find one."""
    found: list[Info] = []
    errors: list[Exception] = []
    async for item in infos(session, selection):
        if isinstance(item, Info):
            session.working_on(item.resource, item.name, item.namespace)
            found.append(item)
        else:
            errors.append(item)
    return found, errors


async def infos(session: Session, selection: Selection) -> AsyncIterator[Item]:
    """The objects in order; a failure that concerns one object or file is yielded, any other is raised."""
    if selection.of_manifests:
        async for item in _by_file(session, selection):
            yield item
        return
    pairs, types, names = await _read_arguments(session, selection)
    if (
        selection.selector
        or selection.field_selector
        or selection.everything
        or (selection.whole_types and types and not names)
    ):
        async for item in _by_selector(session, selection, types, names, pairs):
            yield item
        return
    if types and not names:
        for word in types:
            await session.resolve(word)
        raise CommandError("resource(s) were provided, but no name was specified")
    if not pairs and not types:
        raise CommandError(MISSING)
    for word, name in [*pairs, *((types[0], name) for name in names)]:
        resource = await session.resolve(word)
        yield await _named(session, selection, resource, name)


# -- arguments


async def _read_arguments(session: Session, selection: Selection) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    pairs, types, names = split_arguments(selection.arguments, session.program)
    expanded: list[str] = []
    for word in types:
        category = await session.discovery.category(session.client, word)
        expanded += [r.gvr.group_resource for r in category] or [word]
    if selection.single_type and (len(expanded) > 1 or len({kind for kind, _ in pairs}) > 1):
        raise CommandError("you may only specify a single resource type")
    if names and len(expanded) > 1:
        raise CommandError("you must specify only one resource")
    return pairs, expanded, names


async def _named(session: Session, selection: Selection, resource: Resource, name: str) -> Item:
    namespace = session.namespace if resource.namespaced else ""
    if resource.namespaced and session.all_namespaces:
        raise CommandError("a resource cannot be retrieved by name across all namespaces")
    if resource.namespaced and not selection.default_namespace:
        raise CommandError("namespace may not be empty when retrieving a resource by name")
    info = Info(resource, namespace, name)
    if selection.fetch:
        try:
            info.refresh(await live(session, resource, name, namespace, subresource=selection.subresource))
        except ApiError as error:
            return error
        if selection.typed:
            try:
                check_registered(resource.gvk)
            except CommandError as error:
                return error
    return info


# -- selectors


async def _by_selector(
    session: Session,
    selection: Selection,
    types: Sequence[str],
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
) -> AsyncIterator[Item]:
    if selection.everything and selection.selector:
        raise CommandError("setting 'all' parameter but found a non empty selector. ")
    if names:
        raise CommandError("name cannot be provided when a selector is specified")
    if pairs:
        raise CommandError("selectors and the all flag cannot be used when passing resource/name arguments")
    if not types:
        raise CommandError("at least one resource must be specified to use a selector")
    resources: dict[GVK, Resource] = {}
    for word in types:
        resource = await session.resolve(word)
        resources.setdefault(resource.gvk, resource)
    for resource in resources.values():
        namespace = "" if session.all_namespaces else session.namespace
        try:
            found = await listed(
                session, resource, namespace, labels=selection.selector, fields=selection.field_selector
            )
        except ApiError as error:
            yield error
            continue
        if selection.typed:
            check_registered(resource.gvk, of_list=True)
        for obj in found:
            metadata = obj["metadata"]
            yield Info(resource, metadata.get("namespace", ""), metadata["name"], object=obj)


# -- files


async def _by_file(session: Session, selection: Selection) -> AsyncIterator[Item]:
    found = _files(session, selection)
    _check_selector(selection.selector)
    if selection.kustomize:
        try:
            found = [_kustomization(session, selection.kustomize)]
        except CommandError as error:
            yield error
            return
    for source in found:
        try:
            if source.remote:
                source = await fetched(source, session.clock)
            for document in manifests.documents(source, with_column=session.program != "kubectl"):
                for item in await _of_document(session, selection, document):
                    yield item
        except (CommandError, ConnectionError) as error:
            yield error


def _files(session: Session, selection: Selection) -> list[manifests.Source]:
    """What -f names. Raises what is wrong with it and with the arguments, which there may not be beside files."""
    errors: list[Exception] = []
    found: list[manifests.Source] = []
    pairs: list[tuple[str, str]] = []
    types: list[str] = []
    try:
        found = list(manifests.sources(selection.files, recursive=selection.recursive, stdin=session.stdin.read))
    except Aggregate as several:
        errors += several.errors
    except CommandError as error:
        errors.append(error)
    if selection.verb not in ("apply", "create", "replace", "diff"):
        try:
            pairs, types, _ = split_arguments(selection.arguments, session.program)
        except CommandError as error:
            errors.append(error)
    if errors:
        raise of(errors)
    if types:
        raise CommandError(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )
    if pairs:
        raise CommandError("resource/name arguments cannot be provided when a path is specified")
    return found


def _check_selector(text: str) -> None:
    """Raises CommandError for what is no selector of manifests."""
    try:
        LabelSelector.parse(text)
    except ApiError as error:
        raise CommandError(f"the provided selector {quoted(text)} is not valid: {error.message}") from error


def is_one_file(selection: Selection) -> bool:
    """Whether the objects come from one file, or a kustomization, and not from standard input.

    Such a file is shown whole or not at all (singleItemImplied of the builder). Raises what is wrong with -f.
    """
    found = list(manifests.sources(selection.files, recursive=selection.recursive, stdin=str))
    return bool(selection.kustomize) or (len(found) == 1 and found[0].name != "STDIN")


def _kustomization(session: Session, folder: str) -> manifests.Source:
    from engine.kubectl.kustomize.build import build, text  # few commands need it

    objects = build(folder, warn=session.err, log=session.log)
    return manifests.Source(folder, lambda: text(objects))


async def _of_document(session: Session, selection: Selection, document: manifests.Document) -> list[Item]:
    if selection.validate and (problem := check(document.value)):
        return [
            CommandError(
                f'error validating "{document.source}": error validating data: {problem}; '
                "if you choose to ignore these errors, turn validation off with --validate=false"
            )
        ]
    found = decoding.objects(document, deep=selection.typed)
    validated = selection.validate and not selection.local
    in_list = decoding.is_list(document)
    items: list[Item] = []
    errors: list[Exception] = []
    for obj in found:
        try:
            if in_list:
                decoding.require_type(obj)
            info = await _of_object(session, selection, obj, document.source, in_list=in_list)
        except UndiscoveredError as error:
            if validated:  # what the schema is asked first, without a word in the log
                raise _unvalidated(error, document.source) from error
            session.tell_undiscovered(error, 1)
            items.append(CommandError(f'unable to recognize "{document.source}": {error.cause}'))
            continue
        except (CommandError, ApiError) as error:
            (errors if in_list and not isinstance(error, OtherNamespaceError) else items).append(error)
            continue
        if info is not None:
            items.append(info)
    return [*items, Aggregate(errors)] if errors else items


def _unvalidated(error: UndiscoveredError, source: str) -> CommandError:
    cause = error.cause.replace(DISCOVERY, SCHEMA)
    return CommandError(
        f'error validating "{source}": error validating data: failed to download openapi: {cause}; '
        "if you choose to ignore these errors, turn validation off with --validate=false"
    )


async def _of_object(session: Session, selection: Selection, obj: Object, source: str, *, in_list: bool) -> Info | None:
    metadata = obj["metadata"] if isinstance(obj.get("metadata"), dict) else {}
    name, namespace = _text(metadata, "name"), _text(metadata, "namespace")
    if selection.typed:
        _check_typed(obj, source)
    whence = "" if in_list else f'for name: "{name}" namespace: "{namespace}" from "{source}"'
    resource = await _mapping(session, selection, obj, whence)
    if resource.namespaced:
        if not namespace and selection.default_namespace and not selection.local:
            namespace = session.namespace
            obj = {**obj, "metadata": {**metadata, "namespace": namespace}}
    else:
        namespace = ""
    info = Info(resource, namespace, name, source, obj, local=selection.local)
    if selection.fetch and name and not selection.local:
        if resource.namespaced and not namespace:
            raise no_namespace(info)
        info.refresh(await live(session, resource, name, namespace))
        metadata = {} if selection.tables else info.object["metadata"]  # the labels that count are those of the server
    if selection.selector and not _matches(selection.selector, metadata.get("labels") or {}):
        return None
    if selection.require_namespace:
        require_namespace(session, resource, namespace)
    return info


def no_namespace(info: Info) -> CommandError:
    """Of an object that is asked for by name and of no namespace: a manifest beside -A may not name one."""
    group, version, plural = info.resource.gvr
    return CommandError(f'no namespace set on resource {group}/{version}, Resource={plural} "{info.name}"')


def _check_typed(obj: Object, source: str) -> None:
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    try:
        check_typed(GVK(group, version, str(obj["kind"])), obj)
    except CommandError as error:
        raise CommandError(f'unable to decode "{source}": {error}') from error


def _text(metadata: Object, field: str) -> str:
    """Items of a list are not checked as objects are: what is no text counts as missing."""
    value = metadata.get(field)
    return value if isinstance(value, str) else ""


async def _mapping(session: Session, selection: Selection, obj: Object, whence: str) -> Resource:
    """`whence` says which object it is, "" for one of a list."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    gvk = GVK(group, version, str(obj["kind"]))
    if selection.local:
        return Resource.unasked(gvk)
    return await mapped(session, obj, whence)


async def mapped(session: Session, obj: Object, whence: str) -> Resource:
    """The resource of an object's kind; `whence` as above. Raises CommandError."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    try:
        return await session.discovery.for_kind(session.client, GVK(group, version, str(obj["kind"])))
    except NoMatchError as error:
        if not whence:
            raise CommandError(f"unable to recognize {error}") from error
        raise CommandError(f"resource mapping not found {whence}: {error}\nensure CRDs are installed first") from error


def _matches(selector: str, labels: dict[str, str]) -> bool:
    return LabelSelector.parse(selector).matches(labels)
