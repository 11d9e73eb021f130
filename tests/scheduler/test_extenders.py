"""Extenders over HTTP: a service filters, scores, binds and has its say in preemption."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web

from engine.api.types import PODS, Object
from engine.api.wire import MERGE_PATCH
from engine.scheduler import SchedulerConfiguration
from engine.scheduler.configuration import ExtenderConfiguration
from engine.scheduler.extenders.answers import (
    BINDING_RESULT,
    FILTER_RESULT,
    PREEMPTION_RESULT,
    PRIORITIES,
    GoType,
    type_error,
)
from engine.scheduler.whatif import ClusterObjects, Simulation
from engine.world import World
from tests.scheduler.objects import container, node, pod
from tests.scheduler.stage import Stage, open_stage

Answer = Callable[[Any], Any]


class Service:
    """An extender that answers by functions, and keeps what it was asked."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/scheduler/{verb}", self._answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/scheduler"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        verb, value = request.match_info["verb"], json.loads(await request.read())
        self.asked.append((verb, value))
        made = self.answers[verb](value)
        if isinstance(made, Awaitable):
            made = await made
        if isinstance(made, int):
            return web.Response(status=made)
        if isinstance(made, bytes):
            return web.Response(body=made, content_type="application/json")
        return web.json_response(made)


StageWith = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def stage_with() -> AsyncIterator[StageWith]:
    """Opens a stage whose scheduler has the extender that a service is."""
    async with AsyncExitStack() as stack:

        async def opened(service: Service, **configuration: Any) -> Stage:
            await service.start()
            stack.push_async_callback(service.stop)
            extender = ExtenderConfiguration(service.url, **configuration)
            made = open_stage(World.create(seed=1), configuration=SchedulerConfiguration(extenders=(extender,)))
            return await stack.enter_async_context(made)

        yield opened


def only(*names: str) -> Answer:
    """A filter that lets these nodes pass, and says why others do not."""

    def answer(asked: Any) -> Object:
        passed = [item for item in asked["Nodes"]["items"] if item["metadata"]["name"] in names]
        failed = {i["metadata"]["name"]: "no licence" for i in asked["Nodes"]["items"] if i not in passed}
        return {"Nodes": {"items": passed}, "NodeNames": None, "FailedNodes": failed, "Error": ""}

    return answer


async def test_an_extender_filters_whole_nodes(stage_with: StageWith) -> None:
    service = Service(filter=only("b"))
    stage = await stage_with(service, filter_verb="filter")
    for name in ("a", "b", "c"):
        await stage.add_node(name)
    await stage.add_pod("p")
    assert await stage.bound("p") == "b"
    verb, asked = service.asked[0]
    assert (verb, asked["Pod"]["metadata"]["name"], asked["NodeNames"]) == ("filter", "p", None)
    (decision,) = stage.scheduler.decisions.of_pod("default/p")
    assert {r["node"]: (r["plugin"], r["reasons"]) for r in decision.to_json()["rejected"]} == {
        "a": ("Extender", ["no licence"]), "c": ("Extender", ["no licence"]),
    }  # fmt: skip


async def test_names_alone_go_to_an_extender_that_knows_the_nodes_and_case_does_not_matter(
    stage_with: StageWith,
) -> None:
    def answer(asked: Any) -> Object:
        assert asked["Nodes"] is None
        return {"nodenames": [], "failedNodes": {"a": "busy"}, "failedandunresolvablenodes": {"b": "never"}}

    stage = await stage_with(Service(filter=answer), filter_verb="filter", node_cache_capable=True)
    await stage.add_node("a")
    await stage.add_node("b")
    await stage.add_pod("p")
    condition = await stage.condition("p")
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith("0/2 nodes are available: 1 busy, 1 never. ")
    assert condition["message"].endswith(
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )
    async with stage.world.clock.timeout(60):
        # Anything may change what an extender says, so the Pod may just be tried again: then it waits nowhere.
        while (queued := stage.scheduler.queue.find("default/p")) is None:
            await stage.world.clock.sleep(0.05)
    assert list(queued[0].unschedulable_plugins) == ["Extender"]


async def test_an_extender_scores(stage_with: StageWith) -> None:
    def answer(asked: Any) -> list[Object]:
        return [
            {"Host": n["metadata"]["name"], "Score": 10 * (n["metadata"]["name"] == "c")}
            for n in asked["Nodes"]["items"]
        ]

    stage = await stage_with(Service(prioritize=answer), prioritize_verb="prioritize", weight=5)
    for name in ("a", "b", "c"):
        await stage.add_node(name)
    await stage.add_pod("p")
    assert await stage.bound("p") == "c"
    best = stage.scheduler.decisions.of_pod("default/p")[0].to_json()["scores"][0]
    figures = {k: v for k, v in best["plugins"][-1].items() if k != "plugin"}
    assert figures == {"raw": 10, "normalized": 100, "weight": 5, "weighted": 500}


async def test_an_extender_binds(stage_with: StageWith) -> None:
    async def bind(asked: Any) -> Object:
        binding = {
            "metadata": {"name": asked["PodName"], "namespace": asked["PodNamespace"], "uid": asked["PodUID"]},
            "target": {"kind": "Node", "name": asked["Node"]},
        }
        await stage.admin.create(
            PODS, binding, namespace=asked["PodNamespace"], name=asked["PodName"], subresource="binding"
        )
        return {"Error": ""}

    service = Service(bind=bind)
    stage = await stage_with(service, bind_verb="bind")
    await stage.add_node("a")
    await stage.add_pod("p")
    assert await stage.bound("p") == "a"
    assert [verb for verb, _ in service.asked] == ["bind"]


async def test_an_extender_strikes_out_a_candidate_of_preemption(stage_with: StageWith) -> None:
    def answer(asked: Any) -> Object:
        left = {
            name: {"Pods": [{"UID": p["metadata"]["uid"]} for p in victims["Pods"]], "NumPDBViolations": 0}
            for name, victims in asked["NodeNameToVictims"].items()
            if name == "b"
        }
        return {"NodeNameToMetaVictims": left}

    stage = await stage_with(Service(preempt=answer), preempt_verb="preempt")
    # Without a word of the extender's, it would be the Pod of the lowest priority that goes.
    for name, priority in (("a", 0), ("b", 5)):
        await stage.add_node(name, cpu="1")
        made = pod(f"on-{name}", cpu="1", node_name=name)
        made["spec"]["terminationGracePeriodSeconds"] = 0
        if priority:
            made["spec"]["priorityClassName"] = "mid"
            await _priority(stage, "mid", priority)
        await stage.admin.create(PODS, made, namespace="default")
    await _priority(stage, "high", 100)
    await stage.add_pod("vip", cpu="1", priorityClassName="high")
    assert await stage.bound("vip") == "b"


async def _priority(stage: Stage, name: str, value: int) -> None:
    from engine.scheduler.whatif.cluster import PRIORITY_CLASSES

    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    await stage.admin.create(PRIORITY_CLASSES, made)


async def test_an_extender_that_fails_fails_the_attempt_unless_it_is_ignorable(stage_with: StageWith) -> None:
    broken = Service(filter=lambda asked: 503)
    stage = await stage_with(broken, filter_verb="filter")
    await stage.add_node("a")
    await stage.add_pod("p")
    condition = await stage.condition("p")
    assert (condition["reason"], condition["message"]) == (
        "SchedulerError", f"failed filter with extender at URL {broken.url}/filter, code 503",
    )  # fmt: skip
    ignored = Service(filter=lambda asked: 503)
    other = await stage_with(ignored, filter_verb="filter", ignorable=True)
    await other.add_node("a")
    await other.add_pod("p")
    assert await other.bound("p") == "a"
    assert [verb for verb, _ in ignored.asked] == ["filter"]


_INTO = "json: cannot unmarshal"
MALFORMED: dict[str, tuple[Any, str]] = {
    "a list": ([], f"{_INTO} array into Go value of type v1.ExtenderFilterResult"),
    "a text": ("yes", f"{_INTO} string into Go value of type v1.ExtenderFilterResult"),
    "nodes that are a list": (
        {"Nodes": ["a"]},
        f"{_INTO} array into Go struct field ExtenderFilterResult.Nodes of type v1.NodeList",
    ),
    "nodes that are texts": (
        {"nodes": {"items": ["a"]}},
        f"{_INTO} string into Go struct field NodeList.Nodes.items of type v1.Node",
    ),
    "nodes without names": (
        {"Nodes": {"items": [{}]}},
        'extender "URL" claims a filtered node "" which is not found in the input node list',
    ),
    "names that are a number": (
        {"NodeNames": 7},
        f"{_INTO} number into Go struct field ExtenderFilterResult.NodeNames of type []string",
    ),
    "reasons that are a list": (
        {"NodeNames": ["a"], "FailedNodes": [7]},
        f"{_INTO} array into Go struct field ExtenderFilterResult.FailedNodes of type v1.FailedNodesMap",
    ),
    "a reason that is a number": (
        {"NodeNames": ["a"], "failedNodes": {"b": 7}},
        f"{_INTO} number into Go struct field ExtenderFilterResult.FailedNodes of type string",
    ),
    "no JSON": (b"x", "invalid character 'x' looking for beginning of value"),
    "nothing": (b"", "EOF"),
    "white space": (b" \n", "EOF"),
    "half of an object": (b'{"NodeNames": [', "unexpected EOF"),
}


@pytest.mark.parametrize(("answer", "message"), MALFORMED.values(), ids=MALFORMED)
async def test_an_answer_that_is_not_of_the_form_is_the_extenders_failure(
    stage_with: StageWith, answer: Any, message: str
) -> None:
    capable = isinstance(answer, dict) and "NodeNames" in answer
    service = Service(filter=lambda asked: answer)
    strict = await stage_with(service, filter_verb="filter", node_cache_capable=capable)
    await strict.add_node("a")
    await strict.add_pod("p")
    condition = await strict.condition("p")
    assert (condition["reason"], condition["message"]) == ("SchedulerError", message.replace("URL", service.url))
    lenient = await stage_with(
        Service(filter=lambda asked: answer), filter_verb="filter", node_cache_capable=capable, ignorable=True
    )
    await lenient.add_node("a")
    await lenient.add_pod("p")
    assert await lenient.bound("p") == "a"


async def test_what_follows_an_answer_does_not_matter(stage_with: StageWith) -> None:
    stage = await stage_with(
        Service(filter=lambda asked: b'{"NodeNames": ["a"]} and so on'), filter_verb="filter", node_cache_capable=True
    )
    await stage.add_node("a")
    await stage.add_pod("p")
    assert await stage.bound("p") == "a"


async def test_an_extender_that_is_down(stage_with: StageWith) -> None:
    service = Service()
    stage = await stage_with(service, filter_verb="filter")
    await service.stop()
    await stage.add_node("a")
    await stage.add_pod("p")
    condition = await stage.condition("p")
    where = service.url.removeprefix("http://").removesuffix("/scheduler")
    assert condition["message"] == f'Post "{service.url}/filter": dial tcp {where}: connect: connection refused'


VERB_TYPES: dict[str, tuple[GoType, Any, str]] = {
    "priorities in an object": (PRIORITIES, {}, f"{_INTO} object into Go value of type v1.HostPriorityList"),
    "a priority that is a number": (PRIORITIES, [1], f"{_INTO} number into Go value of type v1.HostPriority"),
    "a score that is a text": (
        PRIORITIES,
        [{"Host": "a", "Score": "high"}],
        f"{_INTO} string into Go struct field HostPriority.Score of type int64",
    ),
    "a score that is not whole": (
        PRIORITIES,
        [{"Score": 1.5}],
        f"{_INTO} number 1.5 into Go struct field HostPriority.Score of type int64",
    ),
    "a binding's error": (
        BINDING_RESULT,
        {"error": True},
        f"{_INTO} bool into Go struct field ExtenderBindingResult.Error of type string",
    ),
    "victims": (
        PREEMPTION_RESULT,
        {"NodeNameToMetaVictims": {"a": {"Pods": {}}}},
        f"{_INTO} object into Go struct field MetaVictims.NodeNameToMetaVictims.Pods of type []*v1.MetaPod",
    ),
    "nothing at all": (PREEMPTION_RESULT, None, ""),
    "nothing in its fields": (FILTER_RESULT, {"Nodes": None, "NodeNames": [None], "More": 1}, ""),
}


@pytest.mark.parametrize(("wanted", "answer", "message"), VERB_TYPES.values(), ids=VERB_TYPES)
def test_what_does_not_fit_is_named_as_go_does(wanted: GoType, answer: Any, message: str) -> None:
    assert type_error(answer, wanted) == message


SCORES: dict[str, Any] = {
    "numbers": [1],
    "a score that is a text": [{"Host": "a", "Score": "high"}],
    "no list": {"Host": "a"},
}


@pytest.mark.parametrize("answer", SCORES.values(), ids=SCORES)
async def test_scores_that_are_not_of_the_form_are_left_out(stage_with: StageWith, answer: Any) -> None:
    stage = await stage_with(Service(prioritize=lambda asked: answer), prioritize_verb="prioritize", weight=1)
    for name in ("a", "b"):
        await stage.add_node(name)
    await stage.add_pod("p")
    assert await stage.bound("p") in ("a", "b")


async def test_an_extender_hears_of_pods_that_ask_for_what_it_manages(stage_with: StageWith) -> None:
    service = Service(filter=only("b"))
    managed = frozenset(("example.com/gpu",))
    stage = await stage_with(service, filter_verb="filter", managed_resources=managed)
    for name in ("a", "b"):
        await stage.add_node(name, allocatable={"example.com/gpu": "4"})
    await stage.add_pod("plain")
    await stage.bound("plain")
    assert service.asked == []
    gpu = container(requests={"example.com/gpu": 1})
    gpu["resources"]["limits"] = dict(gpu["resources"]["requests"])
    await stage.add_pod("gpu", containers=[gpu])
    assert await stage.bound("gpu") == "b"


async def test_a_node_that_was_not_asked_about_is_an_error(stage_with: StageWith) -> None:
    stage = await stage_with(
        Service(filter=lambda asked: {"NodeNames": ["z"]}), filter_verb="filter", node_cache_capable=True
    )
    await stage.add_node("a")
    await stage.add_pod("p")
    assert (await stage.condition("p"))["message"].endswith(
        'claims a filtered node "z" which is not found in the input node list'
    )


async def test_a_what_if_asks_extenders_too() -> None:
    service = Service(filter=only("b"), bind=lambda asked: {"Error": "a what-if binds nothing"})
    await service.start()
    extender = ExtenderConfiguration(service.url, filter_verb="filter", bind_verb="bind")
    cluster = ClusterObjects([node("a"), node("b")])
    simulation = Simulation(cluster, SchedulerConfiguration(extenders=(extender,)))
    try:
        assert (await simulation.place(pod("p"))).node == "b"
    finally:
        await simulation.close()
        await service.stop()
    assert [verb for verb, _ in service.asked] == ["filter"]


async def test_a_nominated_node_that_an_extender_refuses_does_not_keep_the_pod_from_others(
    stage_with: StageWith,
) -> None:
    stage = await stage_with(Service(filter=only("b")), filter_verb="filter")
    await stage.add_node("a")
    await stage.add_pod("p", schedulingGates=[{"name": "wait"}])
    nominated = {"status": {"nominatedNodeName": "a"}}
    await stage.admin.patch(PODS, "p", nominated, namespace="default", subresource="status")
    await stage.add_node("b")
    await stage.admin.patch(PODS, "p", {"spec": {"schedulingGates": []}}, namespace="default", content_type=MERGE_PATCH)
    assert await stage.bound("p") == "b"
    (decision,) = stage.scheduler.decisions.of_pod("default/p")
    assert decision.evaluated == 2


async def test_an_extender_that_breaks_on_the_nominated_node_is_asked_about_the_others(stage_with: StageWith) -> None:
    def not_alone(asked: Any) -> Object:
        items = asked["Nodes"]["items"]
        return {"Error": "one node is no choice"} if len(items) == 1 else {"Nodes": {"items": items[-1:]}}

    stage = await stage_with(Service(filter=not_alone), filter_verb="filter")
    await stage.add_node("a")
    await stage.add_pod("p", schedulingGates=[{"name": "wait"}])
    nominated = {"status": {"nominatedNodeName": "a"}}
    await stage.admin.patch(PODS, "p", nominated, namespace="default", subresource="status")
    await stage.add_node("b")
    await stage.admin.patch(PODS, "p", {"spec": {"schedulingGates": []}}, namespace="default", content_type=MERGE_PATCH)
    assert await stage.bound("p") == "b"
    (decision,) = stage.scheduler.decisions.of_pod("default/p")
    assert decision.result == "scheduled"


async def test_an_extender_need_not_say_which_nodes_it_refuses(stage_with: StageWith) -> None:
    def nobody(asked: Any) -> Object:
        return {"Nodes": {"items": []}}

    stage = await stage_with(Service(filter=nobody), filter_verb="filter")
    await stage.add_node("a")
    await stage.add_pod("p")
    assert (await stage.condition("p"))["reason"] == "Unschedulable"
    (decision, *_) = stage.scheduler.decisions.of_pod("default/p")
    async with stage.world.clock.timeout(60):
        while (queued := stage.scheduler.queue.find("default/p")) is None:
            await stage.world.clock.sleep(0.05)
    assert decision.result == "unschedulable"
    assert "Extender" in queued[0].unschedulable_plugins
