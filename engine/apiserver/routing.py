"""Which paths and methods there are, and how the real server refuses the others.

Built-in resources are routes of go-restful services: what a service's prefix holds and no route matches is a Status,
404 or 405. Custom resources are one handler below /apis, which asks the definition; what it does not know it hands on
to the end of the chain, where Go's mux writes plain text. Source: apiserver pkg/server/handler.go (director),
pkg/endpoints/installer.go, apiextensions-apiserver pkg/apiserver/customresource_handler.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from engine.api.errors import (
    ApiError,
    PlainTextError,
    bad_request,
    generic_server_response,
    method_not_allowed,
    method_not_supported,
    not_found,
    path_not_found,
)
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.wire import JSON, PROTOBUF, Request
from engine.apiserver.authentication.discovery import CONFIGURATION_PATH, KEYS_PATH, KEYS_TYPE
from engine.apiserver.registry.representation import negotiate
from engine.apiserver.request_info import RequestInfo

PAGE_NOT_FOUND = "404 page not found"
_ITEM_VERBS = frozenset(("get", "update", "patch", "delete"))
# Of these a name is the field selector's, not the path's.
_COLLECTION_VERBS = frozenset(("list", "watch", "deletecollection"))
_ANY_METHOD = frozenset(("proxy",))
_PRODUCED = ("application/json", "application/yaml", PROTOBUF)
_STREAMED = ("application/json;stream=watch", f"{PROTOBUF};stream=watch")


def unknown_path(resources: ResourceRegistry, path: str) -> ApiError:
    """404: a Status below a service of the server's own, else plain text."""
    parts = path.strip("/").split("/")
    if parts[0] in ("api", "version") or (parts[0] == "apis" and len(parts) > 1 and _built_in(resources, parts[1])):
        return path_not_found()
    return PlainTextError(404, PAGE_NOT_FOUND)


def check_start(request: Request) -> None:
    """Raises PlainTextError 404 of a path with two slashes in front, as clients send it to whom the server's address
    was told with a slash behind: who may ask for what is read from it, but no handler is found."""
    if request.path.startswith("//"):
        raise PlainTextError(404, PAGE_NOT_FOUND)


def away() -> ApiError:
    """503 of the aggregator, for a version whose server there is not."""
    return PlainTextError(503, "service unavailable")


def _built_in(resources: ResourceRegistry, group: str) -> bool:
    return any(info.gvr.group == group and not info.custom for info in resources)


def check_route(
    resources: ResourceRegistry, info: ResourceInfo | None, request: RequestInfo, method: str
) -> ResourceInfo:
    """The resource, where there is one. Raises ApiError 404 or 405 for what no route, or no definition, is for."""
    if info is None:
        raise unknown_path(resources, request.path)
    if info.custom:
        _check_custom(info, request)
    else:
        _check_built_in(info, request, method)
    return info


def _check_custom(info: ResourceInfo, request: RequestInfo) -> None:
    if not info.namespaced and request.namespace:
        raise PlainTextError(404, PAGE_NOT_FOUND)
    if info.namespaced and not request.namespace and request.verb not in ("list", "watch"):
        raise PlainTextError(404, PAGE_NOT_FOUND)
    if request.subresource and request.subresource not in info.subresources:
        raise not_found(info.gvr, request.name)
    verbs = info.subresources[request.subresource].verbs if request.subresource else info.verbs
    if request.verb not in verbs:
        raise method_not_supported(info.gvr, request.verb)
    if request.verb in ("update", "patch") and not request.name:
        raise bad_request("name must be provided")


def _check_built_in(info: ResourceInfo, request: RequestInfo, method: str) -> None:
    verbs = _route_verbs(info, request)
    if verbs is None or request.verb == "proxy":  # of paths like /api/v1/proxy/…, of which only who may is still told
        raise path_not_found()
    if request.subresource in _ANY_METHOD:
        return
    verb = "get" if request.subresource and request.verb == "list" else request.verb
    if method in ("HEAD", "OPTIONS"):
        raise method_not_allowed()
    if request.verb == "watch" and method != "GET":  # of a path like /api/v1/watch/pods, which says watch by itself
        raise method_not_allowed()
    if verb not in verbs:
        raise method_not_allowed()


def _route_verbs(info: ResourceInfo, request: RequestInfo) -> tuple[str, ...] | None:
    """The verbs of the route that a path takes; None where there is none."""
    scoped = info.namespaced
    if not scoped and request.namespace and info.kind != "Namespace":
        return None
    if request.subresource:
        sub = info.subresources.get(request.subresource)
        if sub is None or (scoped and not request.namespace):
            return None
        if request.parts and request.subresource not in _ANY_METHOD:
            return None
        return sub.verbs
    if request.name and request.verb not in _COLLECTION_VERBS:
        found = _of_items(info.verbs)
        return found if found and (request.namespace or not scoped) else None
    return _of_collections(info.verbs, everywhere=scoped and not request.namespace) or None


@cache
def _of_items(verbs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(verb for verb in verbs if verb in _ITEM_VERBS)


@cache
def _of_collections(verbs: tuple[str, ...], *, everywhere: bool) -> tuple[str, ...]:
    """Only reads go over all namespaces."""
    return tuple(verb for verb in verbs if verb not in _ITEM_VERBS and (not everywhere or verb in ("list", "watch")))


def unsupported_patch(info: ResourceInfo, accepted: tuple[str, ...]) -> ApiError:
    """415 for the media type of a patch: the router's word for built-in resources, the handler's for custom ones."""
    if not info.custom:
        return generic_server_response(415, "415: Unsupported Media Type")
    return ApiError(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}",
    )


def check_accept(info: ResourceInfo, request: RequestInfo, accept: str) -> None:
    """Raises ApiError 406 where a built-in resource's route produces nothing that the header takes; parameters of the
    media types do not matter to the router."""
    if info.custom or not accept or request.subresource in ("log", *_CONNECTED):
        return
    _check_produced(accept, (*_PRODUCED, *_STREAMED) if request.verb in ("list", "watch") else _PRODUCED)


def check_method(resources: ResourceRegistry, path: str, method: str) -> None:
    """Raises ApiError 405 of what is served by a route, which is for GET alone and not even for HEAD. What a handler
    serves (health, metrics, OpenAPI, the index, what groups there are, custom versions) is there for any method, and
    what is not there is for none. Metrics cannot be deleted here: what they count is not forgotten."""
    match path.removeprefix("/").split("/"):
        case ["api" | "version"] | [".well-known", "openid-configuration"] | ["openid", "v1", "jwks"]:
            routed = True
        case ["api", version]:
            routed = version in resources.groups.get("", ())
        case ["apis", group, version]:
            routed = _built_in(resources, group) and version in resources.groups.get(group, ())
        case ["metrics", *_]:
            routed = method == "DELETE"
        case _:
            routed = False
    if routed and method != "GET":
        raise method_not_allowed()


def check_discovery_accept(resources: ResourceRegistry, path: str, accept: str) -> None:
    """Raises ApiError 406 where discovery is in no form that the header takes. The routes of the server's own versions
    produce it; of custom ones, and of what groups there are, a handler and the aggregator make it. All negotiate, and
    convert it to nothing."""
    if not accept:
        return
    parts = path.strip("/").split("/")
    if parts[0] == "api" or (len(parts) == 3 and _built_in(resources, parts[1])):
        _check_produced(accept, _PRODUCED)
    negotiate(accept, converted=False)


def check_service_accept(path: str, accept: str) -> None:
    """Raises ApiError 406 where the version, or what tells of the issuer of tokens, is in no form that the header
    takes."""
    if accept and path in _SERVICES:
        _check_produced(accept, _SERVICES[path])


@lru_cache(maxsize=256)
def _check_produced(accept: str, produced: tuple[str, ...]) -> None:
    """As go-restful matches, which knows of no form like application/* (route.go matchesAccept)."""
    for clause in accept.split(","):
        kind = clause.partition(";")[0].strip(" ")
        if kind in ("*/*", *produced):
            return
    raise generic_server_response(406, f"406: Not Acceptable\n\nAvailable representations: {', '.join(produced)}")


_SERVICES: Mapping[str, tuple[str, ...]] = {
    "/version": (JSON,),
    CONFIGURATION_PATH: (JSON,),
    KEYS_PATH: (KEYS_TYPE,),
}
_CONNECTED = ("attach", "exec", "portforward", "proxy")
