"""One request on its way through the chain: what is known of it, and the spans of its hops."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.wire import Request
from engine.apiserver.audit import Trail
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.fairness import Seat
from engine.apiserver.fairness.flow_classifier import Flow
from engine.apiserver.request_info import RequestInfo
from engine.trace import Hop, Span, SpanContext
from engine.trace.tracer import Tracer

DEPRECATED = "k8s.io/deprecated"  # an annotation of requests for what is


@dataclass(slots=True)
class Call:
    """`cause` is the span that all hops of the request are children of."""

    request: Request
    info: RequestInfo
    tracer: Tracer
    cause: SpanContext | None = None
    by_component: bool = False  # whether a part of the control plane asks, in this process
    user: UserInfo = field(default_factory=lambda: UserInfo(""))
    resource: ResourceInfo | None = None
    asked: ResourceInfo | None = None  # where what was asked for goes on as a subresource of another: the bindings
    object: str = ""  # in the words of spans: kind/namespace/name
    revision: int = 0  # that it made, where its answer is no value that would say so
    payload: str = ""  # the id under which request and response are kept for display
    warnings: list[str] = field(default_factory=list)
    flow: Flow | None = None  # the FlowSchema that it belongs to
    seat: Seat | None = None  # of the flow's priority level
    audit_id: str = ""
    trail: Trail | None = None  # what the audit log tells of it
    annotations: dict[str, str] = field(default_factory=dict)  # of authentication and admission, for the audit log
    handled: bool = False  # whether it came to a handler: authenticated, authorised, and for something that there is

    @property
    def gvr_resource(self) -> ResourceInfo:
        assert self.resource is not None, "only requests for resources come here"
        return self.resource

    def span(
        self, hop: Hop, *, component: str = "kube-apiserver", detail: dict[str, Any] | None = None
    ) -> AbstractContextManager[Span]:
        if self.info.subresource:
            detail = detail if detail is not None else {}
            detail["subresource"] = self.info.subresource
        return self.tracer.span(
            hop, component=component, verb=self.info.verb, object=self.object, cause=self.cause, detail=detail
        )

    def named(self, obj: Object) -> None:
        """Note the name of an object that the path did not say (a create)."""
        metadata = obj.get("metadata")
        self.named_as(metadata.get("name") if isinstance(metadata, dict) else "")

    def named_as(self, name: Any) -> None:
        if name and self.resource is not None:
            self.object = describe(self.resource, self.info.namespace, str(name))


def describe(resource: ResourceInfo, namespace: str, name: str) -> str:
    """`kind/namespace/name` in lower case, as spans name an object; a collection is without the name."""
    parts = [resource.singular]
    if resource.namespaced and namespace:
        parts.append(namespace)
    if name:
        parts.append(name)
    return "/".join(parts)
