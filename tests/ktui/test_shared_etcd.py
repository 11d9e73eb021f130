"""Several `ktui up` processes on one real etcd: one cluster, one leader, and another when that is killed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine_process import SAMPLES, Home
from tests.real_etcd import RealEtcd, free_port


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    yield home
    if home.path.exists():
        for folder in home.path.iterdir():
            if home.folder(folder.name).find_running() is not None:
                home.stop(folder.name)


def items(home: Home, name: str, kind: str, *flags: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(home.kubectl("get", kind, "-o", "json", *flags, name=name).ok())["items"]
    return found


def leaders(home: Home, name: str) -> dict[str, str]:
    """Who holds which Lease, those aside by which each API server says that it is there."""
    leases = items(home, name, "leases", "--namespace=kube-system", "-l", "!apiserver.kubernetes.io/identity")
    return {lease["metadata"]["name"]: lease["spec"].get("holderIdentity", "") for lease in leases}


def test_when_the_leader_is_killed_the_other_goes_on_with_nothing_lost_or_doubled(home: Home, etcd: RealEtcd) -> None:
    options = ("--store=etcd", f"--etcd-endpoints={etcd.endpoint}")
    first = home.up(*options, name="first")
    home.kubectl("wait", "--for=create", "node/node-3", "--timeout=30s", name="first").ok()
    home.up(*options, name="second")

    # What is written to one is read from the other.
    home.kubectl("apply", "-f", str(SAMPLES / "web.yaml"), name="second").ok()
    home.kubectl("rollout", "status", "deployment/web", "--timeout=60s", name="first").ok()
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in items(home, "second", "pods")}
    led = leaders(home, "second")
    assert set(led) >= {"kube-controller-manager", "kube-scheduler", "ktui-machines"}

    home.kill(first)
    home.kubectl("scale", "deployment/web", "--replicas=5", name="second").ok()
    home.kubectl(
        "wait", "--for=jsonpath={.status.readyReplicas}=5", "deployment/web", "--timeout=90s", name="second"
    ).ok()
    now_led = leaders(home, "second")
    assert all(now_led[name] != led[name] for name in led)

    pods = items(home, "second", "pods")
    after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
    assert (len(after), len({pod["status"]["podIP"] for pod in pods})) == (5, 5)
    assert before.items() <= after.items()
    assert len(items(home, "second", "replicasets")) == 1
    nodes = items(home, "second", "nodes")
    assert len({node["spec"]["podCIDR"] for node in nodes}) == 3
    created = [event for event in items(home, "second", "events") if event["reason"] == "SuccessfulCreate"]
    assert sum(event.get("count", 1) for event in created) == 5


def test_two_servers_honour_the_same_tokens_and_give_no_address_twice(home: Home, etcd: RealEtcd) -> None:
    options = ("--store=etcd", f"--etcd-endpoints={etcd.endpoint}", "--components=apiserver")
    home.up(*options, name="first")
    second = home.up(*options, name="second")
    home.kubectl("create", "serviceaccount", "robot", name="first").ok()
    token = home.kubectl("create", "token", "robot", name="first").ok().strip()
    who = home.kubectl(
        "auth",
        "whoami",
        f"--server={second.address}",
        f"--token={token}",
        "--insecure-skip-tls-verify",
        "-o=jsonpath={.status.userInfo.username}",
        env={"KUBECONFIG": "/dev/null"},
    )
    assert who.ok() == "system:serviceaccount:default:robot"

    home.kubectl("create", "service", "nodeport", "one", "--tcp=80", "--node-port=30123", name="first").ok()
    (made,) = [found for found in items(home, "second", "services") if found["metadata"]["name"] == "one"]
    taken = home.kubectl("create", "service", "nodeport", "two", "--tcp=80", "--node-port=30123", name="second")
    assert (taken.code, "provided port is already allocated" in taken.err) == (1, True)
    address = made["spec"]["clusterIP"]
    same = home.kubectl("create", "service", "clusterip", "three", "--tcp=80", f"--clusterip={address}", name="second")
    assert (same.code, "provided IP is already allocated" in same.err) == (1, True)
    home.kubectl("delete", "service", "one", name="first").ok()
    home.kubectl("create", "service", "nodeport", "two", "--tcp=80", "--node-port=30123", name="second").ok()


def test_without_etcd_writes_answer_503_reads_go_on_and_all_recovers(home: Home, etcd: RealEtcd) -> None:
    home.up("--store=etcd", f"--etcd-endpoints={etcd.endpoint}", "--components=apiserver")
    home.kubectl("create", "configmap", "kept", "--from-literal=is=here").ok()
    assert home.kubectl("get", "configmaps", "-o", "name").ok() != ""
    etcd.kill()
    refused = home.kubectl("label", "configmap", "kept", "changed=yes")
    assert refused.code == 1
    assert f"(ServiceUnavailable): etcd at {etcd.endpoint} cannot be reached: " in refused.err
    assert home.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.is}").ok() == "here"
    assert "configmap/kept" in home.kubectl("get", "configmaps", "-o", "name").ok()
    etcd.start()
    while home.kubectl("create", "configmap", "taken").code != 0:
        pass
    assert "configmap/taken" in home.kubectl("get", "configmaps", "-o", "name").ok()
    watched = home.kubectl("wait", "--for=jsonpath={.data.is}=here", "configmap/kept", "--timeout=20s")
    assert watched.code == 0


_HEALTH = ("endpoint", "health", "-w", "table")


def test_etcdctl_and_ktui_store_print_the_same(home: Home, etcd: RealEtcd) -> None:
    home.up("--store=etcd", f"--etcd-endpoints={etcd.endpoint}", "--components=apiserver")
    for name in ("one", "two"):
        home.kubectl("create", "configmap", name, "--from-literal=is=here").ok()
    prefix = "/registry/configmaps/default/"
    for words in (
        ["get", prefix, "--prefix"],
        ["get", prefix, "--prefix", "-w", "json"],
        ["get", prefix, "--prefix", "-w", "fields"],
        ["get", prefix, "--prefix", "--keys-only"],
        ["get", prefix, "--prefix", "--limit", "1", "-w", "json"],
        ["get", prefix, "--prefix", "--order", "DESCEND", "--print-value-only"],
        ["get", prefix, "--prefix", "--sort-by", "CREATE", "-w", "json"],
        ["member", "list"],
        ["member", "list", "-w", "json"],
        ["member", "list", "-w", "table"],
        ["member", "list", "-w", "fields"],
        ["alarm", "disarm"],
    ):
        ours, theirs = at_rest(home, etcd, words, words)
        assert ours == theirs
    for form in ("simple", "table"):
        ours, theirs = at_rest(home, etcd, ["status", "-w", form], ["endpoint", "status", "-w", form])
        assert fields(ours) == fields(theirs)
    ours, theirs = home.ktui("store", *_HEALTH).ok(), etcd.etcdctl(*_HEALTH)
    assert re.sub(r"[\d.]+ms|-+", "", ours).split() == re.sub(r"[\d.]+[mµ]s|-+", "", theirs).split()


def at_rest(home: Home, etcd: RealEtcd, ours: list[str], theirs: list[str]) -> tuple[str, str]:
    """What both print while nothing is written: the API server renews its Lease from time to time."""
    while True:
        before = etcd.etcdctl(*theirs)
        printed = home.ktui("store", *ours).ok()
        if etcd.etcdctl(*theirs) == before:
            return printed, before


def fields(text: str) -> list[str]:
    return text.replace("|", " ").replace(",", " ").split()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ["--store=etcd", "--etcd-endpoints=http://127.0.0.1:{port}"],
            "etcd at http://127.0.0.1:{port} cannot be reached: connection refused. "
            "Start etcd, or name where it runs with --etcd-endpoints",
            id="no etcd",
        ),
        pytest.param(
            ["--store=etcd", "--etcd-endpoints=localhost"],
            '"localhost" is no etcd endpoint; give URLs like http://127.0.0.1:2379, separated by commas',
            id="no URL",
        ),
        pytest.param(
            ["--etcd-endpoints=http://127.0.0.1:{port}"],
            "--etcd-endpoints is for a real etcd: add --store etcd",
            id="the wrong store",
        ),
        pytest.param(
            ["--store=etcd", "--etcd-members=3"],
            "--etcd-members simulates a quorum around the SQLite log; a real etcd has members of its own",
            id="a simulated quorum of a real etcd",
        ),
    ],
)
def test_a_start_that_cannot_be_says_what_to_do(home: Home, options: list[str], message: str) -> None:
    port = str(free_port())
    ran = home.ktui("up", "--port=0", *(option.format(port=port) for option in options))
    assert (ran.code, ran.out, ran.err) == (1, "", f"error: {message.format(port=port)}\n")
    assert not home.path.exists() or list(home.path.iterdir()) == []
