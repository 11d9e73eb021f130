"""Informers on a real API server: what they tell, and what they survive (design, issue 3: the client side)."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from engine.api.types import CONFIGMAPS, Object
from engine.api.wire import Request, Response
from engine.client import InformerFactory, Origin, SharedInformer
from engine.client.informer import StoppedInformerError
from engine.client.mutation_detector import MutatedObjectError
from engine.trace import Hop
from engine.world import World
from tests.client.server import Server, config_map, serving


class Heard:
    """A handler that writes down what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.origins: list[Origin] = []

    def __call__(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        verb = "added" if old is None else "deleted" if new is None else "changed"
        self.said.append(f"{verb} {(new or old or {})['metadata']['name']}")
        self.origins.append(origin)


async def create(server: Server, *names: str) -> None:
    for name in names:
        await server.admin.create(CONFIGMAPS, config_map(name), namespace="default")


def informer_of(server: Server, *, label_selector: str = "") -> tuple[SharedInformer, Heard]:
    informer = SharedInformer(
        server.client, server.world, CONFIGMAPS, namespace="default", label_selector=label_selector
    )
    heard = Heard()
    informer.add_handler(heard)
    return informer, heard


async def test_what_is_there_and_what_comes_is_told_in_order(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a", "b")
        informer, heard = informer_of(server)
        assert not informer.has_synced
        informer.start()
        await informer.wait_for_sync()
        assert heard.said == ["added a", "added b"]
        await create(server, "c")
        await server.admin.patch(CONFIGMAPS, "a", {"data": {"x": "1"}}, namespace="default")
        await server.admin.delete(CONFIGMAPS, "b", namespace="default")
        await server.eventually("all is told", lambda: len(heard.said) == 5)
        assert heard.said[2:] == ["added c", "changed a", "deleted b"]
        assert [obj["metadata"]["name"] for obj in informer.lister.list()] == ["a", "c"]
        assert all(obj["kind"] == "ConfigMap" and obj["apiVersion"] == "v1" for obj in informer.lister.list())
        await informer.stop()


async def test_a_change_carries_the_revision_and_the_span_that_made_it(world: World) -> None:
    async with serving(world) as server:
        informer, heard = informer_of(server)
        informer.start()
        await informer.wait_for_sync()
        with world.tracer.span(Hop.CLIENT, component="kubectl", verb="create") as span:
            made = await server.admin.create(CONFIGMAPS, config_map("a"), namespace="default")
        await server.eventually("it is told", lambda: bool(heard.origins))
        assert heard.origins[0].revision == int(made["metadata"]["resourceVersion"])
        assert heard.origins[0].cause is not None
        assert heard.origins[0].cause.trace_id == span.trace_id
        await informer.stop()


async def test_a_watch_that_ends_goes_on_where_it_was(world: World) -> None:
    async with serving(world) as server:
        informer, heard = informer_of(server)
        informer.start()
        await informer.wait_for_sync()
        for error in (None, ConnectionResetError("reset by peer")):
            await world.clock.sleep(5)
            await server.transport.cut(error)
            await create(server, f"during-{type(error).__name__.lower()}")
        await server.eventually("both are told", lambda: len(heard.said) == 2)
        assert informer.status()["lists"] == 1, "no second list was needed"
        assert informer.status()["watches"] == 3
        await informer.stop()


async def test_after_a_gap_that_is_no_longer_kept_it_lists_again_and_tells_the_difference(world: World) -> None:
    async with serving(world, watch_cache_size=10) as server:
        await create(server, "kept", "gone", "changed")
        informer, heard = informer_of(server)
        resynced = Heard()
        informer.add_handler(resynced, resync=3600)
        informer.start()
        await informer.wait_for_sync()
        heard.said.clear()
        resynced.said.clear()
        server.transport.fail = lambda request: ConnectionRefusedError("down") if request.query.get("watch") else None
        await world.clock.sleep(5)
        await server.transport.cut()
        await server.admin.delete(CONFIGMAPS, "gone", namespace="default")
        await server.admin.patch(CONFIGMAPS, "changed", {"data": {"x": "1"}}, namespace="default")
        for number in range(30):
            await create(server, f"new-{number}")
        server.transport.fail = lambda request: None
        await server.eventually("the difference is told", lambda: len(heard.said) == 32)
        assert heard.said[:2] == ["deleted gone", "changed changed"]
        assert informer.status()["lists"] == 2
        # What is listed again as it was is news for those with resyncs only (TestSharedInformerWatchDisruption).
        assert sorted(resynced.said) == sorted([*heard.said, "changed kept"])
        await informer.stop()


async def test_it_waits_longer_and_longer_for_a_server_that_is_not_there(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        times: list[float] = []

        def refuse(request: Request) -> BaseException | Response | None:
            times.append(world.clock.monotonic())
            return ConnectionRefusedError("down") if len(times) < 5 else None

        server.transport.fail = refuse
        informer, heard = informer_of(server)
        informer.start()
        await informer.wait_for_sync()
        assert heard.said == ["added a"]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)][:4]
        for gap, base in zip(gaps, (0.8, 1.6, 3.2, 6.4), strict=True):
            assert base <= gap <= 2 * base, "doubling, with a random part"
        await informer.stop()


async def test_selectors_turn_changes_into_comings_and_goings(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        informer, heard = informer_of(server, label_selector="app=web")
        informer.start()
        await informer.wait_for_sync()
        for label in ("web", "db"):
            await server.admin.patch(CONFIGMAPS, "a", {"metadata": {"labels": {"app": label}}}, namespace="default")
        await server.eventually("it came and went", lambda: heard.said == ["added a", "deleted a"])
        await informer.stop()


async def test_a_late_handler_hears_of_all_that_is_there_and_a_broken_one_disturbs_nobody(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        informer, heard = informer_of(server)

        def broken(old: Object | None, new: Object | None, origin: Origin) -> None:
            raise RuntimeError("broken")

        informer.add_handler(broken)
        informer.start()
        await informer.wait_for_sync()
        late = Heard()
        informer.add_handler(late)
        assert late.said == heard.said == ["added a"]
        informer.remove_handler(heard)
        await create(server, "b")
        await server.eventually("the late one hears", lambda: late.said == ["added a", "added b"])
        assert heard.said == ["added a"]
        await informer.stop()


async def test_a_resync_tells_all_again(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        informer, _ = informer_of(server)
        again = Heard()
        informer.add_handler(again, resync=30)
        informer.start()
        await informer.wait_for_sync()
        await world.clock.sleep(65)
        assert again.said == ["added a", "changed a", "changed a"]
        assert again.origins[1] == Origin()
        await informer.stop()


async def test_a_resync_comes_once_a_second_at_the_most_and_ends_with_its_handler(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        informer, _ = informer_of(server)
        often, gone = Heard(), Heard()
        informer.add_handler(often, resync=0.1)
        informer.add_handler(gone, resync=30)
        informer.start()
        await informer.wait_for_sync()
        informer.remove_handler(gone)
        often.said.clear()
        await world.clock.sleep(30.5)
        assert 30 <= len(often.said) <= 31
        assert gone.said == ["added a"]
        await informer.stop()


async def test_a_stopped_informer_takes_no_handler(world: World) -> None:
    async with serving(world) as server:
        informer, heard = informer_of(server)
        informer.start()
        await informer.wait_for_sync()
        await informer.stop()
        with pytest.raises(StoppedInformerError, match="was not added to shared informer because it has stopped"):
            informer.add_handler(heard)
        assert informer.status()["handlers"] == 1


async def test_a_factory_shares_one_informer_for_one_scope(world: World) -> None:
    async with serving(world) as server:
        factory = InformerFactory(server.client, world)
        assert factory.informer(CONFIGMAPS) is factory.informer(CONFIGMAPS)
        assert factory.informer(CONFIGMAPS, namespace="default") is not factory.informer(CONFIGMAPS)
        await create(server, "a")
        factory.start()
        await factory.wait_for_sync()
        assert factory.lister(CONFIGMAPS).get("a", "default") is not None
        view = world.views.look("informers/informer", {})
        assert [each["synced"] for each in view] == [True, True]
        await factory.stop()
        assert "informers/informer" not in list(world.views)


async def test_whoever_changes_an_object_of_the_cache_is_found_out(world: World) -> None:
    async with serving(world) as server:
        await create(server, "a")
        factory = InformerFactory(server.client, world, detect_mutations=True)
        lister = factory.lister(CONFIGMAPS)
        factory.start()
        await factory.wait_for_sync()
        mine = next(obj for obj in lister.list("default"))
        mine["metadata"]["annotations"] = {"touched": "yes"}
        with pytest.raises(MutatedObjectError):
            await factory.stop()


async def test_another_object_of_the_same_name_in_a_relist_is_a_change_but_for_who_must_know_them_apart(
    world: World,
) -> None:
    """processDeltas asks whether the key is there; upstream's controllers compare the UIDs themselves."""
    async with serving(world, watch_cache_size=10) as server:
        await create(server, "a")
        informer, heard = informer_of(server)
        apart = Heard()
        informer.add_handler(apart, each_object=True)
        informer.start()
        await informer.wait_for_sync()
        server.transport.fail = lambda request: ConnectionRefusedError("down") if request.query.get("watch") else None
        await world.clock.sleep(5)
        await server.transport.cut()
        await server.admin.delete(CONFIGMAPS, "a", namespace="default")
        await create(server, "a", *(f"new-{number}" for number in range(20)))
        server.transport.fail = lambda request: None
        await server.eventually("all is told", lambda: len(heard.said) == 22)
        assert [said for said in heard.said if said.endswith(" a")] == ["added a", "changed a"]
        assert [said for said in apart.said if said.endswith(" a")] == ["added a", "deleted a", "added a"]
        await informer.stop()


async def test_waiting_for_what_will_never_sync_ends_with_the_informer(world: World) -> None:
    async with serving(world) as server:
        server.transport.fail = lambda request: ConnectionRefusedError("down")
        factory = InformerFactory(server.client, world)
        informer = factory.informer(CONFIGMAPS)
        factory.start()
        waiting = [asyncio.ensure_future(informer.wait_for_sync()), asyncio.ensure_future(factory.wait_for_sync())]
        await world.clock.sleep(5)
        assert not any(each.done() for each in waiting)
        await factory.stop()
        assert await asyncio.gather(*waiting) == [False, False]
        assert not informer.has_synced


async def test_informers_are_measured_by_resource_and_the_first_of_each_alone(world: World) -> None:
    async with serving(world) as server:
        made = await server.admin.create(CONFIGMAPS, config_map("a"), namespace="default")
        factory = InformerFactory(server.client, world)
        factory.informer(CONFIGMAPS)
        factory.informer(CONFIGMAPS, namespace="kube-system")
        factory.start()
        await factory.wait_for_sync()
        queued, version = world.views.look("fifo/informer/metrics", {})
        labels = {"group": "", "name": "informer", "resource": "configmaps", "version": "v1"}
        assert queued["name"] == "informer_queued_items"
        assert [(each["labels"], each["value"]) for each in queued["samples"]] == [(labels, 0)]
        assert version["name"] == "informer_store_resource_version"
        assert [each["labels"] for each in version["samples"]] == [labels]
        assert version["samples"][0]["value"] >= int(made["metadata"]["resourceVersion"])
        await factory.stop()
        assert "fifo/informer/metrics" not in list(world.views)
