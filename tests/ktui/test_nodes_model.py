"""The Nodes screen's rows and details, from what real kubelets told once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ktui.models.nodes import NodesModel, doing, status_words, tiles, worker_state
from ktui.widgets.kubelet_details import node_parts, pod_parts
from tests.ktui import recorded

NOW = datetime(2026, 1, 1, 0, 0, 26, tzinfo=UTC)


def model_of(node: str) -> NodesModel:
    answers = recorded.inside_answers()
    model = NodesModel(answers["GET /debug/ktui/nodes"]["nodes"])
    pods = answers[f"GET /api/v1/pods?fieldSelector=spec.nodeName={node}"]["items"]
    lease = answers[f"GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}"]
    inside = {"kubelet": answers[f"GET /debug/ktui/views/kubelet/{node}/overview"], "pods": pods}
    model.take_inside(node, {**inside, "renewed": lease["spec"]["renewTime"]})
    return model


def test_a_node_shows_its_pods_as_tiles() -> None:
    rows = model_of("node-1").rows()
    assert [row.key for row in rows] == ["node-1", "node-2", "node-3"]
    assert rows[0].cells[:3] == ("node-1", "✓ Ready", "1/110")
    assert rows[0].cells[3] == "✖"
    assert "■" in rows[2].cells[3]
    assert len(model_of("node-1").rows(wide=True)[0].cells) == 7


def test_pods_that_have_ended_take_no_room() -> None:
    node = {**model_of("node-1").nodes[0], "podCount": 112, "endedPods": 7}
    assert NodesModel([node]).rows()[0].cells[2] == "105/110"


@pytest.mark.parametrize(
    ("changes", "words", "tone"),
    [
        pytest.param({}, "✓ Ready", "foreground", id="ready"),
        pytest.param({"ready": "False"}, "✖ NotReady", "error", id="not ready"),
        pytest.param({"ready": "Unknown"}, "✖ NotReady", "error", id="no heartbeat"),
        pytest.param({"ready": ""}, "✖ Unknown", "error", id="no kubelet"),
        pytest.param({"unschedulable": True}, "✓ Ready,SchedulingDisabled", "warning", id="cordoned"),
    ],
)
def test_words_for_a_node(changes: dict[str, Any], words: str, tone: str) -> None:
    assert status_words({"ready": "True", "unschedulable": False, **changes}) == (words, tone)


def test_pods_that_are_not_told_one_by_one_are_counted() -> None:
    node = {"podCount": 5, "pods": [{"state": "failed", "pod": "a/b"}, {"state": "ready", "pod": "a/c"}]}
    assert tiles(node) == "✖■ +3"
    assert tiles(node).tones == ("error", "success")


WORKER = {
    "pod": "default/p", "state": "SyncPod", "working": False, "pending": False, "error": "", "nextSyncSeconds": None,
    "gracePeriodSeconds": None,
}  # fmt: skip
BACK_OFF = {
    "spec": {"containers": [{"image": "nginx:1.27"}]},
    "status": {
        "containerStatuses": [
            {
                "restartCount": 2,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"exitCode": 3}},
            }
        ]
    },
}
READY = {"spec": {"containers": [{}]}, "status": {"containerStatuses": [{"ready": True, "state": {"running": {}}}]}}
IDLE: dict[str, Any] = {"images": {"pulling": []}, "cri": {"underWay": []}, "probes": []}
PULL = {"image": "nginx:1.27", "progress": 0.5}
CALL = {"call": "StopContainer", "object": "pod/default/p", "at": "2026-01-01T00:00:25Z", "container": "c"}
PROBE = {"pod": "default/p", "probe": "liveness", "nextSeconds": 4.2}


@pytest.mark.parametrize(
    ("worker", "pod", "kubelet", "state", "words"),
    [
        pytest.param({}, None, {}, "✓ idle", "", id="idle"),
        pytest.param({}, None, {"probes": [PROBE]}, "✓ idle", "liveness ◷ 4 s", id="a probe is due"),
        pytest.param(
            {}, READY, {"probes": [{**PROBE, "probe": "readiness", "nextSeconds": 10.0}]}, "✓ idle",
            "1/1 readiness ◷ 10 s", id="seen whole beside a long name",
        ),
        pytest.param(
            {"nextSyncSeconds": 163.6}, BACK_OFF, {}, "✖ back-off",
            "◷ 2m44s CrashLoopBackOff · restart 2, exit 3", id="minutes",
        ),
        pytest.param(
            {"nextSyncSeconds": 7.6}, BACK_OFF, {}, "✖ back-off",
            "◷ 8s CrashLoopBackOff · restart 2, exit 3", id="crash loop",
        ),
        pytest.param(
            {"working": True}, BACK_OFF, {"images": {"pulling": [PULL]}}, "◐ syncing",
            "pull~ nginx:1.27 50 % ████░░░░", id="pulls",
        ),
        pytest.param(
            {"working": True}, None, {"cri": {"underWay": [CALL]}}, "◐ syncing", "StopContainer c 1.0 s", id="a call",
        ),
        pytest.param(
            {"state": "TerminatingPod", "gracePeriodSeconds": 30}, None, {}, "◐ terminating",
            "stops its containers, 30 s of grace", id="ends",
        ),
        pytest.param({"error": "no route"}, None, {}, "✖ failed", "no route", id="an error"),
        pytest.param({"state": "finished"}, None, {}, "· finished", "", id="finished"),
    ],
)  # fmt: skip
def test_what_a_worker_is_at(worker: dict[str, Any], pod: Any, kubelet: dict[str, Any], state: str, words: str) -> None:
    assert worker_state({**WORKER, **worker}, pod)[0] == state
    assert doing({**WORKER, **worker}, pod, {**IDLE, **kubelet}, NOW) == words


def test_the_inside_of_a_kubelet() -> None:
    text = "\n".join(part.plain for part in node_parts(model_of("node-2"), NOW, width=70, colours={}))
    for words in ("heartbeat", "SyncLoop", "pleg", "CRI calls~", "images~", "nginx:1.27", "~ simulated"):
        assert words in text


def test_the_inside_of_a_pod() -> None:
    text = "\n".join(part.plain for part in pod_parts(model_of("node-3"), "default/probed", NOW, width=70, colours={}))
    for words in (
        "sandbox",
        "address~ 10.244.",
        "containers~",
        "running",
        "liveness",
        "readiness",
        "next",
        "listens on 80",
    ):
        assert words in text


def test_a_node_that_no_kubelet_here_runs_shows_what_the_api_knows() -> None:
    model = model_of("node-3")
    model.inside = {**model.inside, "kubelet": None}
    assert "default/probed" in {row.key for row in model.workers(NOW)}
    assert "No kubelet of this process" in "\n".join(
        part.plain for part in node_parts(model, NOW, width=70, colours={})
    )
