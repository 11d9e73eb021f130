"""The paths of an OpenAPI document: each operation on a resource, with its kind, action and query parameters.

kubectl reads from them which kinds take `dryRun` and `fieldValidation` (cli-runtime's query parameter verifier), and
`kubectl explain` which kind a resource has. Source of the shapes: apiserver pkg/endpoints/installer.go,
apiextensions-apiserver pkg/controller/openapi/builder/builder.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from engine.api.deletion_answers import returned_when_deleted
from engine.api.openapi.operations import ANY, Route, path_item
from engine.api.openapi.parameters import (
    DELETE,
    DELETE_COLLECTION,
    LIST,
    LOG,
    PATCH,
    WRITE,
    connect_parameters,
    of_release,
)
from engine.api.openapi.schemas import Dialect
from engine.api.resources import ResourceInfo, Subresource
from engine.api.schema import Definitions
from engine.api.types import GVK, GVR, Object
from engine.api.wire import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, PROTOBUF, STRATEGIC_PATCH, YAML

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
FORMS = (JSON, YAML, PROTOBUF)
_STREAMS = (*FORMS, f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
_CREATED = {"201": "Created"}
_ACCEPTED = {"202": "Accepted"}
_COLLECTION_VERBS = ("list", "create", "deletecollection")
_ITEM_VERBS = ("get", "update", "patch", "delete")
_METHODS = {"create": "post", "delete": "delete", "get": "get", "patch": "patch", "update": "put"}
_WATCH_INSTEAD = "deprecated: use the 'watch' parameter with a list operation instead"


def resource_paths(definitions: Definitions, info: ResourceInfo, dialect: Dialect) -> Iterator[tuple[str, Object]]:
    """Every path of a resource and its subresources, with the path item."""
    for path, routes in _Routes(definitions, info).of_paths():
        routes = [route._replace(query=of_release(route.query, definitions.release)) for route in routes]
        yield path, path_item(path, routes, dialect, kind=info.kind)


class _Routes:
    """The routes of one resource."""

    def __init__(self, definitions: Definitions, info: ResourceInfo) -> None:
        self._definitions = definitions
        self._info = info
        self._scope = "Namespaced" if info.namespaced else ""
        self._forms = FORMS[:2] if info.custom else FORMS
        self._takes = FORMS[:2] if info.custom else ANY
        # kubectl looks here whether a kind can be merged by its schema.
        self._patches = (JSON_PATCH, MERGE_PATCH, *(() if info.custom else (STRATEGIC_PATCH,)), APPLY_PATCH)

    def of_paths(self) -> Iterator[tuple[str, list[Route]]]:
        info = self._info
        namespace = "{namespace}" if info.namespaced else None
        if info.namespaced and "list" in info.verbs:
            yield info.gvr.path(), [self._list("", "ForAllNamespaces")]
        if routes := self._collection(info.verbs):
            yield info.gvr.path(namespace), routes
        if routes := self._item(info.verbs):
            yield info.gvr.path(namespace, "{name}"), routes
        for sub in info.subresources.values():
            path = info.gvr.path(namespace, "{name}", sub.name)
            if sub.gvk.kind.endswith("Options"):
                yield path, self._connects(sub)
                if sub.name == "proxy":
                    yield f"{path}/{{path}}", self._connects(sub, "WithPath")
            elif sub.name == "log":
                yield path, [self._log()]
            else:
                yield path, [self._create(sub)] if "create" in sub.verbs else self._item(sub.verbs, sub)
        if "watch" in info.verbs and not info.custom:
            yield from self._watches(namespace)

    def _collection(self, verbs: Iterable[str]) -> list[Route]:
        makers: Mapping[str, Callable[[], Route]] = {
            "list": lambda: self._list(self._scope),
            "create": self._create,
            "deletecollection": self._delete_collection,
        }
        return [makers[verb]() for verb in _COLLECTION_VERBS if verb in verbs]

    def _item(self, verbs: Iterable[str], sub: Subresource | None = None) -> list[Route]:
        makers = {"get": self._get, "update": self._update, "patch": self._patch, "delete": self._delete}
        return [makers[verb](sub) for verb in _ITEM_VERBS if verb in verbs]

    # -- of a collection

    def _list(self, scope: str, tail: str = "") -> Route:
        info = self._info
        watched = "list or watch" if "watch" in info.verbs and not info.custom else "list"
        return Route(
            "get",
            f"list{scope}{info.kind}{tail}",
            f"{watched} objects of kind {info.kind}",
            self._definition(info.gvk._replace(kind=info.list_kind)),
            "list",
            info.gvk,
            LIST,
            consumes=self._takes,
            produces=self._forms if info.custom else _STREAMS,
        )

    def _create(self, sub: Subresource | None = None) -> Route:
        carried = self._carried(sub)
        of = f"create {sub.name} of" if sub else "create"
        return Route(
            "post",
            self._name("create", sub),
            f"{of}{_article(self._info.kind)}{self._info.kind}",
            self._definition(carried),
            "post",
            self._shown(sub),
            WRITE,
            self._definition(carried),
            {**_CREATED, **_ACCEPTED},
            self._takes,
            self._forms,
        )

    def _delete_collection(self) -> Route:
        info = self._info
        return Route(
            "delete",
            f"deletecollection{self._scope}{info.kind}",
            f"delete collection of {info.kind}",
            f"{META}.Status",
            "deletecollection",
            info.gvk,
            LIST if info.custom else DELETE_COLLECTION,
            "" if info.custom else f"{META}.DeleteOptions",
            consumes=self._takes,
            produces=self._forms,
        )

    # -- of an object

    def _get(self, sub: Subresource | None) -> Route:
        return Route(
            "get",
            self._name("read", sub),
            self._words("read", sub),
            self._definition(self._carried(sub)),
            "get",
            self._shown(sub),
            ("resourceVersion", "pretty") if self._info.custom else ("pretty",),
            consumes=self._takes,
            produces=self._forms,
        )

    def _update(self, sub: Subresource | None) -> Route:
        kept = self._definition(self._carried(sub))
        return Route(
            "put",
            self._name("replace", sub),
            self._words("replace", sub),
            kept,
            "put",
            self._shown(sub),
            WRITE,
            kept,
            _CREATED,
            self._takes,
            self._forms,
        )

    def _patch(self, sub: Subresource | None) -> Route:
        return Route(
            "patch",
            self._name("patch", sub),
            self._words("partially update", sub),
            self._definition(self._carried(sub)),
            "patch",
            self._shown(sub),
            PATCH,
            f"{META}.Patch",
            {} if self._info.custom else _CREATED,
            self._patches,
            self._forms,
        )

    def _delete(self, sub: Subresource | None) -> Route:
        info = self._info
        return Route(
            "delete",
            self._name("delete", sub),
            f"delete{_article(info.kind)}{info.kind}",
            self._definition(info.gvk) if returned_when_deleted(info) else f"{META}.Status",
            "delete",
            info.gvk,
            DELETE,
            f"{META}.DeleteOptions",
            _ACCEPTED,
            self._takes,
            self._forms,
        )

    # -- of what is passed on

    def _log(self) -> Route:
        info = self._info
        name, words = f"read{self._scope}{info.kind}Log", f"read log of the specified {info.kind}"
        produces = ("text/plain", *FORMS)
        return Route("get", name, words, "", "get", info.gvk, LOG, produces=produces)

    def _connects(self, sub: Subresource, tail: str = "") -> list[Route]:
        methods = {_METHODS[verb] for verb in sub.verbs} | ({"head", "options"} if sub.name == "proxy" else set())
        what = f"{self._scope}{self._info.kind}{sub.name.capitalize()}{tail}"
        return [
            Route(
                method,
                f"connect{method.capitalize()}{what}",
                f"connect {method.upper()} requests to {sub.name} of {self._info.kind}",
                "",
                "connect",
                sub.gvk,
                connect_parameters(sub.gvk),
                produces=ANY,
            )
            for method in sorted(methods)
        ]

    def _watches(self, namespace: str | None) -> Iterator[tuple[str, list[Route]]]:
        gvr, kind = self._info.gvr, self._info.kind
        words = f"watch individual changes to a list of {kind}. {_WATCH_INSTEAD}."
        if namespace is not None:
            yield _watch_path(gvr), [self._watch("watchlist", f"watch{kind}ListForAllNamespaces", words)]
        yield _watch_path(gvr, namespace), [self._watch("watchlist", f"watch{self._scope}{kind}List", words)]
        words = f"watch changes to an object of kind {kind}. {_WATCH_INSTEAD}, filtered to a single item with the "
        one = self._watch("watch", f"watch{self._scope}{kind}", f"{words}'fieldSelector' parameter.")
        yield _watch_path(gvr, namespace, "{name}"), [one]

    def _watch(self, action: str, name: str, words: str) -> Route:
        return Route("get", name, words, f"{META}.WatchEvent", action, self._info.gvk, LIST, produces=_STREAMS)

    # -- names

    def _carried(self, sub: Subresource | None) -> GVK:
        return sub.gvk if sub else self._info.gvk

    def _shown(self, sub: Subresource | None) -> GVK:
        """The kind that an operation names: of a custom resource its own, also where a Scale is carried."""
        return self._info.gvk if self._info.custom else self._carried(sub)

    def _definition(self, gvk: GVK) -> str:
        return self._definitions.kinds.get(gvk, "")

    def _name(self, verb: str, sub: Subresource | None) -> str:
        return f"{verb}{self._scope}{self._info.kind}{sub.name.capitalize() if sub else ''}"

    def _words(self, verb: str, sub: Subresource | None) -> str:
        return f"{verb} {sub.name + ' of ' if sub else ''}the specified {self._info.kind}"


def _watch_path(gvr: GVR, namespace: str | None = None, name: str | None = None) -> str:
    path = gvr.path(namespace, name)
    root = f"/apis/{gvr.api_version}" if gvr.group else f"/api/{gvr.api_version}"
    return f"{root}/watch{path.removeprefix(root)}"


def _article(kind: str) -> str:
    """Plurals have none, and a word like class is no plural."""
    if kind.endswith("s") and not kind.endswith("ss"):
        return " "
    return " an " if kind[0].lower() in "aeiou" else " a "
