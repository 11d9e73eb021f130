"""`wait`: the words of --for, and one time for several objects together (kubectl pkg/cmd/wait)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from engine.api.types import CONFIGMAPS, PODS, SERVICE_ACCOUNTS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.tasks import Supervisor
from engine.world import World
from tests.kubectl.oracle import ours
from tests.kubectl.served import ADMIN

NAMES = ("a", "b", "c")


EXAMPLE = "--for=jsonpath='{.status.readyReplicas}'"
PATH_FORMS = "expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": False},
}
STATUS: Object = {
    "phase": "Pending",
    "conditions": [{"type": "Ready", "status": "False"}, {"type": "PodScheduled", "status": "True"}],
}
TIMED_OUT = "error: timed out waiting for the condition on pods/p\n"
NOT_MET = "error: condition not met for pods/p\n"

# What is waited for, and which error it ends with: "" where it is met.
WAITS: dict[str, tuple[str, str]] = {
    "a condition that is false": ("--for=condition=Ready=False pod/p", ""),
    "in other letters": ("--for=condition=ready=false pod/p", ""),
    "a condition that is not met": ("--for=condition=Ready pod/p", TIMED_OUT),
    "a condition, asked once": ("--for=condition=Ready pod/p --timeout=0", NOT_MET),
    "one of two conditions": ("--for=condition=PodScheduled --for=condition=Ready=true pod/p -o name", TIMED_OUT),
    "deletion, asked once": ("--for=delete pod/p --timeout=0", NOT_MET),
    "deletion": ("--for=delete pod/p", TIMED_OUT),
    "creation": ("--for=create pod/p", ""),
    "a value": ("--for=jsonpath='{.status.phase}'=Pending pod/p", ""),
    "a value without braces": ("--for=jsonpath=status.phase=Pending pod/p", ""),
    "a value between spaces": ("--for='jsonpath={.spec.terminationGracePeriodSeconds}= 30 ' pod/p", ""),
    "a value in quotes": ("""--for='jsonpath={.metadata.name}="p"' pod/p""", ""),
    "any value": ("--for=jsonpath='{.status.phase}' pod/p", ""),
    "another value": ("--for=jsonpath='{.status.phase}'=Running pod/p", TIMED_OUT),
    "by a filter": ("""--for='jsonpath={.status.conditions[?(@.type=="Ready")].status}=False' pod/p""", ""),
    "no value": (
        "--for=jsonpath='{.status.phase}'= pod/p",
        f"error: jsonpath wait has to have a value after equal sign, like {EXAMPLE}=3\n",
    ),
    "two values": (
        "--for=jsonpath='{.status.phase}'=a=b pod/p",
        f"error: jsonpath wait format must be {EXAMPLE}=3 or {EXAMPLE}\n",
    ),
    "no path": ("--for=jsonpath= pod/p", "error: jsonpath expression cannot be empty\n"),
    "an empty path": ("--for=jsonpath={} pod/p", f"error: unexpected path string, {PATH_FORMS}\n"),
    "a broken filter": ("""--for='jsonpath={.a[?(@.b=="c"].d}=x' pod/p""", "error: unterminated filter\n"),
    "an object": (
        "--for=jsonpath={.metadata}=x pod/p",
        "error: jsonpath leads to a nested object or list which is not supported\n",
    ),
    "several values": (
        "--for=jsonpath='{.status.conditions[*].type}'=Ready pod/p",
        "error: given jsonpath expression matches more than one value\n",
    ),
    "one that is not there beside one that is": (
        "--for=condition=Ready=False pod/q pod/p",
        'Error from server (NotFound): pods "q" not found\n',
    ),
}


@pytest.fixture
async def client(virtual_clock: VirtualClock) -> AsyncIterator[Client]:
    world = World.create(clock=virtual_clock, seed=7)
    store = await SqliteStore.open(None, clock=world.clock, rng=world.rng.stream("store"))
    server = ApiServer(world, store)
    await server.start()
    yield Client(InProcessTransport(server, ADMIN), user_agent="kubectl/test")
    await server.stop()
    await store.close()


async def test_the_words_of_for(client: Client, virtual_clock: VirtualClock) -> None:
    await client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    pod = await client.create(PODS, POD, namespace="default")
    await client.update_status(PODS, {**pod, "status": STATUS})
    different = []
    for name, (argv, error) in WAITS.items():
        printed = await ours(f"wait --timeout=1s {argv}", client=client, clock=virtual_clock)
        met = "pod/p condition met\n" if not error or "pod/q" in argv else ""
        met = "pod/p\n" if "-o name" in argv else met  # by the first of two conditions
        if printed != (1 if error else 0, met, error):
            different.append(f"{name}: {printed}")
    assert not different, "\n".join(different)


async def test_the_objects_share_the_time(client: Client, virtual_clock: VirtualClock) -> None:
    for name in NAMES:
        data = {"found": "yes"} if name == "c" else {}
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        await client.create(CONFIGMAPS, made, namespace="default")
    began = virtual_clock.monotonic()
    argv = "wait configmaps a b c --for=jsonpath={.data.found}=yes --timeout=10s"
    printed = await ours(argv, client=client, clock=virtual_clock)
    assert virtual_clock.monotonic() < began + 11
    lines = [f"timed out waiting for the condition on configmaps/{name}" for name in NAMES]  # the last one unseen
    assert (printed.code, printed.stdout, printed.stderr.splitlines()) == (1, "", lines)
    printed = await ours("wait configmaps a b c --for=delete --timeout=1s", client=client, clock=virtual_clock)
    lines = [f"timed out waiting for the condition on configmaps/{NAMES[0]}", *["context deadline exceeded"] * 2]
    assert (printed.code, printed.stderr.splitlines()) == (1, lines)


RUNNING = {"state": {"running": {"startedAt": "2026-11-28T12:00:00Z"}}}


def _statuses(pod: Object, phase: str, *, ready: str) -> Object:
    container = {"name": "r", "image": "i", "imageID": "", "ready": False, "restartCount": 0, **RUNNING}
    return {
        **pod,
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [container],
        },
    }


async def test_run_attaches_to_a_pod_that_is_ready_and_no_sooner(client: Client, virtual_clock: VirtualClock) -> None:
    await client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    tasks = Supervisor("test")
    argv = "run r --image=i --attach --rm --pod-running-timeout=5s"
    running = tasks.spawn(ours(argv, client=client, clock=virtual_clock), "run")
    while not (pods := (await client.list(PODS, namespace="default")).items):
        await virtual_clock.sleep(0.1)
    await client.update_status(PODS, _statuses(pods[0], "Running", ready="False"))
    began = virtual_clock.monotonic()
    printed = await running
    assert virtual_clock.monotonic() > began + 4
    assert printed == (1, 'pod "r" deleted from default namespace\n', "error: timed out waiting for the condition\n")
    await tasks.close()
