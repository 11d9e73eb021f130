"""What a request is about, read from its path: the first link of the chain.

Source of the behaviour: apiserver pkg/endpoints/request requestinfo.go. Paths come back again and again, so what the
path alone says is kept; the verb also depends on the query (`watch`, a name in a field selector).
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import NamedTuple
from urllib.parse import unquote, urlencode

from engine.api.errors import ApiError, PlainTextError
from engine.api.golang.text import quoted
from engine.api.selectors import FieldSelector, LabelSelector
from engine.api.types import GVR
from engine.api.wire import Request
from engine.apiserver.registry.options import flag, integer

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SPECIAL_VERBS = ("proxy", "watch")  # /api/v1/watch/..., long out of use and still parsed
# Subresources of a namespace; anything else after /namespaces/NAME/ is a resource in it.
_NAMESPACE_SUBRESOURCES = frozenset(("status", "finalize"))
# What stays open as long as its client likes, besides watches (pkg/server/filters/longrunning.go).
LONG_RUNNING_SUBRESOURCES = frozenset(("attach", "exec", "proxy", "log", "portforward"))
_LONG_RUNNING_VERBS = frozenset(("watch", "proxy"))


class RequestInfo(NamedTuple):
    """`verb` is the RBAC verb; of a request that is for no resource it is the method in lower case."""

    is_resource: bool
    path: str
    verb: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()  # what follows the subresource, as in nodes/NAME/proxy/healthz

    @property
    def gvr(self) -> GVR:
        return GVR(self.group, self.version, self.resource)

    @property
    def watching(self) -> bool:
        return self.verb == "watch"

    @property
    def long_running(self) -> bool:
        return self.verb in _LONG_RUNNING_VERBS or self.subresource in LONG_RUNNING_SUBRESOURCES

    @property
    def reading(self) -> bool:
        return self.verb in ("get", "list", "watch")


@lru_cache(maxsize=65_536)
def _parse(method: str, path: str) -> RequestInfo:
    path = unquote(path)  # as Go's URL.Path: a slash that is escaped parts as any other
    other = RequestInfo(False, path, method.lower())
    parts = path.strip("/").split("/")
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return other
    if parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) < 4:
        return other
    else:
        group, version, rest = parts[1], parts[2], parts[3:]
    verb = _VERBS.get(method, "")
    if rest[0] in _SPECIAL_VERBS:
        if len(rest) < 2:
            return other
        verb, rest = rest[0], rest[1:]
    namespace, rest = _namespace_of(rest)
    resource, name, subresource = (*rest[:3], "", "", "")[:3]
    if verb == "proxy":
        subresource = ""
    if not name and verb == "get":
        verb = "list"
    if not name and verb == "delete":
        verb = "deletecollection"
    return RequestInfo(True, path, verb, group, version, namespace, resource, subresource, name, tuple(rest[3:]))


def _namespace_of(parts: list[str]) -> tuple[str, list[str]]:
    """The namespace and the path below it; a namespace is itself an object with subresources of its own."""
    if parts[0] != "namespaces" or len(parts) < 2:
        return "", parts
    if len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:
        return parts[1], parts[2:]
    return parts[1], parts


def parse(request: Request) -> RequestInfo:
    info = _parse(request.method, request.path)
    if not info.is_resource:
        return info
    if info.verb == "list":
        # A list or watch of one name is authorised as one of that name.
        if "fieldSelector" in request.query:
            info = info._replace(name=_selected_name(request))
        if flag(request, "watch"):
            return info._replace(verb="watch")
    return info


def check_path(request: Request) -> None:
    """Raises PlainTextError of a path that ends before it says what to watch (or proxy)."""
    parts = request.path.strip("/").split("/")
    if parts[-1] not in _SPECIAL_VERBS or (parts[0], len(parts)) not in (("api", 3), ("apis", 4)):
        return
    asked = _url(request)
    raise internal_text(
        request, f"failed to create RequestInfo: unable to determine kind and namespace from url, {asked}"
    )


def internal_text(request: Request, why: str) -> PlainTextError:
    """500 of a filter of the chain (handlers/responsewriters, InternalError)."""
    return PlainTextError(500, escape(f"Internal Server Error: {quoted(_url(request))}: {why}", quote=False))


def _url(request: Request) -> str:
    query = urlencode(request.query, doseq=True)
    return f"{request.path}?{query}" if query else request.path


def _selected_name(request: Request) -> str:
    """The one name that a field selector is for; "" where it could be no name in a path, or where anything of the query
    is malformed."""
    try:
        for number in ("limit", "timeoutSeconds"):
            integer(request, number)
        LabelSelector.parse(request.parameter("labelSelector"))
        name = FieldSelector.parse(request.parameter("fieldSelector")).exact("metadata.name") or ""
    except ApiError:
        return ""
    return "" if name in (".", "..") or "/" in name or "%" in name else name
