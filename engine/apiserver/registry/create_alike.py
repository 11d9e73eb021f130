"""Creates of Pods in the same words as others before: once a mould of them is proved, only what is the Pod's own is
worked out, and admission is asked whether its grounds are those of the mould (`engine.apiserver.registry.pod_moulds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import orjson

from engine.api.types import Object
from engine.apiserver.admission import Attributes, Operation
from engine.apiserver.admission.settled import Alike
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.create import Creater
from engine.apiserver.registry.fitting import without_owners
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.pod_moulds import Admitted, Cast, Mould, Own, PodMoulds, Words, as_received
from engine.apiserver.registry.write_admission import attributes_of, check_mutated, validate
from engine.store.types import RequestTooLargeError
from engine.trace import Hop, Span


class _Change(NamedTuple):
    """What mutating admission met, with which managedFields, and the grounds on which it changed it, if they can be
    said and stayed."""

    received: Object
    owners: Any
    admitted: Admitted | None


class AlikeCreater:
    def __init__(self, backend: Backend, creater: Creater) -> None:
        self._backend = backend
        self._creater = creater
        self._moulds = PodMoulds()
        self._world = backend.world

    def words(self, call: Call, options: WriteOptions) -> Words | None:
        """What a request to create a Pod says; None for one that is like no other, and any other request."""
        return self._moulds.words(call, options)

    async def create(
        self, call: Call, words: Words, options: WriteOptions, read: Callable[[], Object]
    ) -> Object | Cast:
        """As `Creater.create`, of a request in these `words`; what comes of them is remembered. `read` gives what that
        gets, where it takes the whole object."""
        if words.mould is not None and words.mould.proved:
            return await self.create_alike(call, words, words.mould, options, read)
        obj = read()
        if words.repeated:
            obj = self._creater.begun(call, obj, options, tracked=False)
            attributes = attributes_of(call, Operation.CREATE, obj, None, options=options)
            with call.span(Hop.MUTATING_ADMISSION) as span:
                await self._world.latency.pause("mutating-admission")
                change = await self._change(attributes, obj, span)
            return await self._create_changed(call, words, attributes, obj, change, options)
        created = await self._creater.create(call, obj, options)
        if not call.warnings:
            self._moulds.note(words)
        return created

    async def create_alike(
        self, call: Call, words: Words, mould: Mould, options: WriteOptions, read: Callable[[], Object]
    ) -> Object | Cast:
        """Of words that the `mould` is proved for; with the whole object where admission has other grounds now."""
        info, clock = call.gvr_resource, self._world.clock
        written = clock.timestamp()
        call.named_as(words.name)
        attributes = attributes_of(call, Operation.CREATE, mould.received, None, options=options)
        attributes.name = words.name
        whole: tuple[Object, _Change] | None = None
        with call.span(Hop.MUTATING_ADMISSION) as span:
            await self._world.latency.pause("mutating-admission")
            if not await self._backend.admission.mutates_alike(attributes, span, mould.known):
                obj = attributes.object = self._creater.begun(call, read(), options, tracked=False)
                whole = obj, await self._change(attributes, obj, span)
        if whole is not None:
            return await self._create_changed(call, words, attributes, *whole, options)
        drawn = self._backend.admission.draw(attributes) if mould.draws else ""
        generate = "" if words.name else mould.generate
        name = words.name or self._creater.drawn_name(info, generate)
        with call.span(Hop.SCHEMA):
            await self._world.latency.pause("schema")
            own = Own(name, self._backend.uids.uid(), clock.timestamp(), written, drawn)
            text = mould.text(own)
            if not words.name:
                attributes.name = name
                call.named_as(name)
        await validate(self._backend, call, attributes, Alike(mould.known, partial(orjson.loads, text)))

        async def put(namespace: str, under: str, cause: str) -> tuple[Cast, int] | None:
            its = own if under == name else own._replace(name=under)
            kept = text if under == name else mould.text(its)
            made = partial(mould.object, its)
            revision = await self._backend.storage.create_text(info, namespace, under, kept, made, cause=cause)
            return (Cast(mould, its, kept, revision), revision) if revision is not None else None

        named = {"name": name, "generateName": mould.generate}
        try:
            cast, call.revision = await self._creater.put_new(call, named, generate, put)
        except RequestTooLargeError:
            if not without_owners(obj := orjson.loads(text)):
                raise
            return await self._creater.insert(call, obj, generate)
        return cast

    async def _change(self, attributes: Attributes, obj: Object, span: Span) -> _Change:
        """Mutating admission of the whole object."""
        admission = self._backend.admission
        received, owners = as_received(obj), obj["metadata"].get("managedFields")
        asked = replace(attributes, object=received)
        before = await admission.grounds(asked)
        await admission.mutate(attributes, span)
        if before is None or await admission.grounds(asked) != before:
            return _Change(received, owners, None)
        return _Change(received, owners, Admitted(before, span.detail["plugins"]))

    async def _create_changed(
        self, call: Call, words: Words, attributes: Attributes, obj: Object, change: _Change, options: WriteOptions
    ) -> Object:
        check_mutated(call, attributes, change.owners)
        created = await self._creater.create_admitted(call, attributes, obj, options, tracked=False)
        if change.admitted is not None and not call.warnings:
            info = call.gvr_resource
            text = self._backend.storage.encoded(info, created)
            self._moulds.learn(words, info, created, text, change.received, change.admitted)
        return created
