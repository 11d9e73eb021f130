"""From an authorised request to the verb that answers it (apiserver pkg/endpoints/installer.go and handlers)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, bad_request, conflict, method_not_allowed, method_not_supported
from engine.api.resource_metrics import GROUP as RESOURCE_METRICS
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, GVR, Object, copy_object
from engine.api.warnings import deprecation, removed_in
from engine.api.wire import JSON, EventStream, Response
from engine.apiserver.actions.admitted import admit_create, owned
from engine.apiserver.actions.reviews import Reviews
from engine.apiserver.backend import Backend
from engine.apiserver.call import DEPRECATED, Call
from engine.apiserver.component_statuses import ComponentStatuses
from engine.apiserver.handshake import NoProtocol
from engine.apiserver.pod_logs import PodLogs
from engine.apiserver.registry.body import check_size, decode_value
from engine.apiserver.registry.body_syntax import object_value
from engine.apiserver.registry.create import Creater
from engine.apiserver.registry.create_alike import AlikeCreater
from engine.apiserver.registry.delete import Deleter
from engine.apiserver.registry.delete_plan import DEFINITIONS
from engine.apiserver.registry.ending_definitions import refuse_post
from engine.apiserver.registry.facet import SCALE, Facet
from engine.apiserver.registry.facets import facet_of
from engine.apiserver.registry.managed_fields import view_taken
from engine.apiserver.registry.metadata import check_place, check_same_object, uid_mismatch, wipe_system_fields
from engine.apiserver.registry.options import ListOptions, WriteOptions, refuse_export
from engine.apiserver.registry.patch import Patcher
from engine.apiserver.registry.pod_moulds import Cast
from engine.apiserver.registry.read import Reader
from engine.apiserver.registry.representation import (
    Form,
    check_include,
    event_mapper,
    is_for_a_person,
    negotiate,
    negotiate_stream,
    represent,
)
from engine.apiserver.registry.scale import named_by_scale
from engine.apiserver.registry.update import UPDATE_ATTEMPTS, Updater
from engine.apiserver.registry.update_rules import created_by_update
from engine.apiserver.registry.watch import WatchOpener
from engine.apiserver.resource_metrics import ResourceMetrics
from engine.apiserver.routing import away, check_accept, check_route
from engine.apiserver.streaming.nodes import check_node
from engine.apiserver.streaming.proxy import PodProxy
from engine.apiserver.streams import MappedEvents

_ANSWERED = frozenset(("binding", "eviction", "token"))  # what is posted there is not kept, and has no table
_CONNECT = frozenset(("attach", "exec", "portforward", "proxy", "log"))
_PACKED_SINCE = (1, 37)  # watches that begin with a list (WatchListCompression, beta)


class Action(Protocol):
    """A POST to a subresource that creates no object of the resource."""

    async def post(self, call: Call, options: WriteOptions) -> Object: ...


class Settling(Protocol):
    """Follows CustomResourceDefinitions."""

    async def settled(self, name: str) -> None: ...


class Connector(Protocol):
    """Answers what is for a node to answer: exec, attach, port-forward. The object is looked for by `find`, which
    raises ApiError 404, once the request is admitted."""

    async def connect(self, call: Call, find: Callable[[], Awaitable[Object]]) -> Response: ...


@dataclass(slots=True)
class Rest:
    backend: Backend
    reader: Reader
    creater: Creater
    alike: AlikeCreater
    updater: Updater
    patcher: Patcher
    deleter: Deleter
    watches: WatchOpener
    reviews: Reviews
    logs: PodLogs
    components: ComponentStatuses
    usage: ResourceMetrics
    actions: dict[tuple[str, str], Action]
    connector: Connector | None = None
    definitions: Settling | None = None

    def resolve(self, call: Call) -> ResourceInfo:
        """The resource of the request's path. Raises ApiError 404, 405."""
        request = call.info
        info = self.backend.resources.get(request.group, request.version, request.resource)
        if request.version in self.backend.resources.elsewhere.get(request.group, ()):
            raise away()
        info = check_route(self.backend.resources, info, request, call.request.method)
        check_accept(info, request, call.request.headers.get("accept", ""))
        if text := deprecation(info):
            call.warnings.append(text)
            call.annotations[DEPRECATED] = "true"
            if removed := removed_in(info):
                call.annotations["k8s.io/removed-release"] = removed
        if request.verb == "create":
            refuse_post(info, self.backend.definitions.release)
        return info

    async def answer(self, call: Call) -> Response:
        """Run the verb of a resource request. Raises ApiError."""
        info, request = call.gvr_resource, call.info
        accept = call.request.headers.get("accept", "")
        typed = not info.custom or request.subresource == "scale"
        if request.watching:
            form = negotiate_stream(accept, typed=typed)
        else:
            kept = (info.stored or "get" in info.verbs) and request.subresource not in _ANSWERED
            form = negotiate(accept, typed=typed, tables=kept)
        if not request.reading:
            check_size(call.request)
        elif request.verb == "get" and request.subresource != "log":
            refuse_export(call.request)
        if request.subresource:
            return await self._subresource(call, info, form)
        match request.verb:
            case "get":
                body, status = await self._reads(info).get(call), 200
            case "list":
                body, status = await self._reads(info).list(call), 200
            case "watch":
                return await self._watch(call, info, form)
            case "create":
                return await self._create(call, info, form)
            case "update":
                status, body = await self._update(call, info, _facet(info, ""))
            case "patch":
                if call.trail is not None:
                    call.trail.patched_with(call.request)
                options = WriteOptions.of(call.request, "patch")
                status, body = await self.patcher.patch(call, _facet(info, ""), options)
            case "delete":
                status, body = await self.deleter.delete(call)
            case "deletecollection":
                body, status = await self.deleter.delete_collection(call), 200
            case _:
                raise method_not_allowed()
        if request.verb in ("update", "patch", "delete"):
            await self._settle(info, request.name)
        return self._shown(call, info, form, body=body, status=status)

    def _reads(self, info: ResourceInfo) -> Reader | ComponentStatuses | ResourceMetrics:
        if info.gvr.group == RESOURCE_METRICS and not info.custom:
            return self.usage
        return self.components if info.kind == "ComponentStatus" else self.reader

    # -- the verbs

    async def _create(self, call: Call, info: ResourceInfo, form: Form) -> Response:
        options = WriteOptions.of(call.request, "create")
        words = self.alike.words(call, options)
        if words is not None:
            read = partial(self._received, call, info, options)
            made = await self.alike.create(call, words, options, read)
            if isinstance(made, Cast):
                return self._cast(call, info, form, made)
            return self._shown(call, info, form, body=made, status=201)
        if not info.stored:
            obj = self._decoded(call, info.gvk, options)
            if info.kind == "Binding":
                return await self._legacy_binding(call, obj, options)
            obj = owned(self.backend, call, info.gvk, obj, options)
            await admit_create(self.backend, call, obj, options, check=lambda review: self.reviews.check(call, review))
            answer = await self.reviews.answer(call, obj)
            return Response(201, self.backend.storage.ordered(call.gvr_resource, answer))
        obj = self._received(call, info, options)
        if call.trail is not None:
            call.trail.asked_with(copy_object(obj))
        body = await self.creater.create(call, obj, options)
        await self._settle(info, body["metadata"]["name"])
        return self._shown(call, info, form, body=body, status=201)

    def _received(self, call: Call, info: ResourceInfo, options: WriteOptions) -> Object:
        """The new object of a request's body, decoded and defaulted."""
        obj = self._decoded(call, info.gvk, options)
        check_place(info, call.info, obj)
        wipe_system_fields(obj["metadata"])
        apply_defaults(info, obj)
        call.named(obj)
        return obj

    async def _settle(self, info: ResourceInfo, name: str) -> None:
        """Answer only when what a definition says is so, so that clients can go on at once."""
        if self.definitions is not None and info.gvr.group_resource == DEFINITIONS:
            await self.definitions.settled(name)

    async def _update(self, call: Call, info: ResourceInfo, facet: Facet) -> tuple[int, Object]:
        options = WriteOptions.of(call.request, "update")
        value = object_value(self.backend.definitions, call.request, facet.gvk)
        read = [self._view(call, facet, value, options)]  # what is wrong with it is said before what is not there

        def transform(old: Object) -> Object:
            view = read.pop() if read else self._view(call, facet, value, options)
            live = (facet.start or facet.show)(old)
            new = view_taken(self.backend, call, facet, old, view, live=live, options=options)
            if facet.gvk != info.gvk:  # a uid that a view names is one of its object
                check_same_object(info, view, old)
            return new

        creates = created_by_update(info) and not call.info.subresource
        for _ in range(UPDATE_ATTEMPTS):
            try:
                return 200, await self.updater.update(
                    call, options, transform, rules=facet.check, tracked=facet.gvk != info.gvk
                )
            except ApiError as error:
                if error.reason != "NotFound" or not creates:
                    raise
            obj = read.pop() if read else self._view(call, facet, value, options)
            _check_no_uid(call, obj)
            try:
                return 201, await self.creater.create(call, obj, options, by_update=True)
            except ApiError as error:
                if error.reason != "AlreadyExists":  # others have made it meanwhile
                    raise
        raise conflict(info.gvr, call.info.name)

    def _view(self, call: Call, facet: Facet, value: Any, options: WriteOptions) -> Object:
        info = call.gvr_resource
        view = decode_value(call, self.backend.definitions, facet.gvk, value=value, validation=options.validation)
        check_place(info, call.info, view)
        if facet.gvk == info.gvk:
            apply_defaults(info, view)
        if call.trail is not None:
            call.trail.asked_with(copy_object(view))
        return view

    async def _watch(self, call: Call, info: ResourceInfo, form: Form) -> Response:
        include = call.request.parameter("includeObject")
        if form.kind == "Table":
            check_include(include)
        events: EventStream = await self.watches.open(call)
        if form.kind:
            events = MappedEvents(
                events,
                event_mapper(
                    form,
                    info,
                    now=self.backend.world.clock.now,
                    definitions=self.backend.definitions,
                    include=include,
                    peers=lambda: self._peers(info),
                ),
            )
        untyped = info.custom and not form.kind
        packs = self.backend.definitions.release >= _PACKED_SINCE and ListOptions.of(call.request, watching=True).lists
        headers = {"content-type": "application/json"}
        return Response(200, headers=headers, events=events, untyped=untyped, packs=packs)

    # -- subresources

    async def _subresource(self, call: Call, info: ResourceInfo, form: Form) -> Response:
        request = call.info
        verb = "get" if request.verb == "list" else request.verb
        if request.subresource in _CONNECT:
            return await self._connect(call, info)
        if verb == "create":
            action = self.actions.get((info.gvr.group_resource, request.subresource))
            if action is None:
                raise method_not_supported(info.gvr, verb)
            return Response(201, await action.post(call, WriteOptions.of(call.request, "create")))
        facet = _facet(info, request.subresource)
        if verb == "get":
            with named_by_scale(info, request):
                found = await self.reader.get(call)
            return self._shown(call, info, form, body=facet.show(found), status=200)
        if verb == "patch":
            if call.trail is not None:
                call.trail.patched_with(call.request)
            status, body = await self.patcher.patch(call, facet, WriteOptions.of(call.request, "patch"))
        else:
            status, body = await self._update(call, info, facet)
        return self._shown(call, info, form, body=facet.show(body), status=status)

    async def _connect(self, call: Call, info: ResourceInfo) -> Response:
        if call.info.subresource == "proxy":
            return await PodProxy(self.backend).answer(call)
        of_log = self.logs.options(call.request, call.info.name) if call.info.subresource == "log" else None

        async def find() -> Object:
            return (await self.backend.storage.named(info, call.info.namespace, call.info.name)).object

        try:
            if of_log is not None:
                check = partial(check_node, self.backend, call)
                return await self.logs.answer(call.request, await find(), of_log, check)
            if self.connector is None:
                what = f"{call.info.subresource} is not served by the nodes of this cluster"
                raise ApiError(501, "NotImplemented", what, details={})
            return await self.connector.connect(call, find)
        except NoProtocol:
            return Response(403, b"")

    async def _legacy_binding(self, call: Call, obj: Object, options: WriteOptions) -> Response:
        """POST bindings: the same as pods/NAME/binding, with the Pod's name in the body."""
        pods = self.backend.resources.get("", "v1", "pods")
        name = (obj.get("metadata") or {}).get("name", "")
        if pods is None or not name:
            raise bad_request("Name parameter required.")
        call.asked, call.resource = call.resource, pods
        call.info = call.info._replace(resource="pods", name=name, subresource="binding")
        call.named(obj)
        return Response(201, await self.actions["pods", "binding"].post(call, options))

    # -- shared

    def _decoded(self, call: Call, gvk: GVK, options: WriteOptions) -> Object:
        value = object_value(self.backend.definitions, call.request, gvk)
        return decode_value(call, self.backend.definitions, gvk, value=value, validation=options.validation)

    def _shown(self, call: Call, info: ResourceInfo, form: Form, *, body: Object, status: int) -> Response:
        if body.get("kind") == SCALE.kind != info.kind:
            info = _scale_of(info)
        if form.kind and body.get("kind") in (info.kind, info.list_kind):
            body = represent(
                form,
                info,
                body,
                now=self.backend.world.clock.now(),
                definitions=self.backend.definitions,
                include=call.request.parameter("includeObject"),
                peers=lambda: self._peers(info),
            )
        return Response(status, body, untyped=info.custom or form.kind == "PartialObjectMetadataList")

    def _cast(self, call: Call, info: ResourceInfo, form: Form, made: Cast) -> Response:
        """A Pod of a mould, without a detour for who wants plain JSON."""
        plain = form == Form() and not call.request.in_process and not is_for_a_person(call.request)
        if plain and (line := made.line()) is not None:
            return Response(201, line, {"content-type": JSON})
        return self._shown(call, info, form, body=made.answer(), status=201)

    def _peers(self, info: ResourceInfo) -> Iterable[Object]:
        """All objects of a kind, as far as they are known; looked at by a table that marks one of them."""
        cache = self.backend.caches.of(info)
        return cache.objects() if cache is not None else ()


def _facet(info: ResourceInfo, subresource: str) -> Facet:
    facet = facet_of(info, subresource)
    if facet is None:
        raise method_not_supported(info.gvr, subresource)
    return facet


def _scale_of(info: ResourceInfo) -> ResourceInfo:
    """The scale of a resource as a resource of its own, for its table."""
    gvr = GVR(SCALE.group, SCALE.version, info.gvr.resource)
    return replace(info, gvr=gvr, kind=SCALE.kind, list_kind=f"{SCALE.kind}List", custom=False, extension=None)


def _check_no_uid(call: Call, obj: Object) -> None:
    """An update that names a uid is for that object, and there is none. Raises ApiError 409."""
    request, info = call.info, call.gvr_resource
    if uid := obj["metadata"].get("uid"):
        gone = {"name": request.name, "namespace": request.namespace}
        raise conflict(info.gvr, request.name, uid_mismatch(info, gone, uid))


__all__ = ["Action", "Connector", "Rest"]
