"""The sample from apply to delete, through the real kubectl: its words, columns and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conformance.conftest import Kubectl
from tests.engine_process import SAMPLES

WEB = str(SAMPLES / "web.yaml")


def columns(text: str) -> list[str]:
    """The head of a table."""
    return re.split(r"\s{2,}|\s(?=[A-Z-]+\()", text.splitlines()[0].strip())


@pytest.mark.parametrize("how", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_apply_says_created_then_unchanged_then_configured(kubectl: Kubectl, how: tuple[str, ...]) -> None:
    applied = "serverside-applied" if how else ""
    assert kubectl("apply", *how, "-f", WEB).ok().splitlines() == [
        f"deployment.apps/web {applied or 'created'}",
        f"service/web {applied or 'created'}",
    ]
    assert kubectl("apply", *how, "-f", WEB).ok().splitlines() == [
        f"deployment.apps/web {applied or 'unchanged'}",
        f"service/web {applied or 'unchanged'}",
    ]
    changed = Path(WEB).read_text().replace("replicas: 3", "replicas: 2")
    assert kubectl("apply", *how, "-f", "-", stdin=changed).ok().splitlines()[0] == (
        f"deployment.apps/web {applied or 'configured'}"
    )


def test_rollout_status_ends_with_success(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", WEB).ok()
    lines = kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok().splitlines()
    assert lines[-1] == 'deployment "web" successfully rolled out'
    assert all(
        re.fullmatch(
            r'Waiting for deployment "web" rollout to finish: \d of 3 updated replicas are available\.\.\.', line
        )
        for line in lines[:-1]
    )


def test_wide_tables_have_the_real_columns_and_values(kubectl: Kubectl, web: Path) -> None:
    deployment = kubectl("get", "deploy", "-o", "wide").ok()
    assert columns(deployment) == [
        "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR",
    ]  # fmt: skip
    assert re.search(r"^web +3/3 +3 +3 +\d+s +nginx +nginx:1.27 +app=web$", deployment, re.MULTILINE)
    assert re.search(
        r"^web-[a-z0-9]+ +3 +3 +3 +\d+s +nginx +nginx:1.27 +app=web,pod-template-hash=[a-z0-9]+$",
        kubectl("get", "rs", "-o", "wide").ok(),
        re.MULTILINE,
    )
    pods = kubectl("get", "pods", "-o", "wide").ok()
    assert columns(pods) == [
        "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES",
    ]  # fmt: skip
    assert (
        len(
            re.findall(
                r"^web-\S+ +1/1 +Running +0 +\d+s +10\.244\.\d+\.\d+ +node-[123] +<none> +<none>$", pods, re.MULTILINE
            )
        )
        == 3
    )
    assert re.search(
        r"^web +ClusterIP +10\.\d+\.\d+\.\d+ +<none> +80/TCP +\d+s +app=web$",
        kubectl("get", "svc", "-o", "wide").ok(),
        re.MULTILINE,
    )
    slices = kubectl("get", "endpointslices").ok()
    assert re.search(
        r"^web-\w{5} +IPv4 +80 +10\.244\.[\d.]+,10\.244\.[\d.]+,10\.244\.[\d.]+ +\d+s$", slices, re.MULTILINE
    )
    nodes = kubectl("get", "nodes", "-o", "wide").ok()
    assert re.search(r"^node-1 +Ready +<none> +\S+ +v1\.\d+\.\d+ +172\.18\.0\.2 +<none> ", nodes, re.MULTILINE)


def test_pods_spread_over_the_nodes(kubectl: Kubectl, web: Path) -> None:
    nodes = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}").ok().split()
    assert sorted(nodes) == ["node-1", "node-2", "node-3"]


def test_events_tell_the_story_in_the_usual_words(kubectl: Kubectl, web: Path) -> None:
    events = json.loads(kubectl("get", "events", "-o", "json").ok())["items"]
    told = {(event["involvedObject"]["kind"], event["reason"], event["type"]) for event in events}
    assert told >= {
        ("Deployment", "ScalingReplicaSet", "Normal"),
        ("ReplicaSet", "SuccessfulCreate", "Normal"),
        ("Pod", "Scheduled", "Normal"),
        ("Pod", "Pulled", "Normal"),
        ("Pod", "Created", "Normal"),
        ("Pod", "Started", "Normal"),
    }
    messages = "\n".join(event["message"] for event in events)
    assert re.search(r"^Scaled up replica set web-\w+ from 0 to 3$", messages, re.MULTILINE)
    assert re.search(r"^Created pod: web-\w+-\w{5}$", messages, re.MULTILINE)
    assert re.search(r"^Successfully assigned \S+/web-\w+-\w{5} to node-[123]$", messages, re.MULTILINE)


def test_conditions_are_those_of_a_rolled_out_deployment(kubectl: Kubectl, web: Path) -> None:
    deployment = json.loads(kubectl("get", "deploy", "web", "-o", "json").ok())
    conditions = {c["type"]: (c["status"], c["reason"], c["message"]) for c in deployment["status"]["conditions"]}
    assert conditions["Available"] == ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    status, reason, message = conditions["Progressing"]
    assert (status, reason) == ("True", "NewReplicaSetAvailable")
    assert re.fullmatch(r'ReplicaSet "web-\w+" has successfully progressed\.', message)
    pod = json.loads(kubectl("get", "pods", "-o", "json").ok())["items"][0]
    assert {c["type"]: c["status"] for c in pod["status"]["conditions"]} == dict.fromkeys(
        ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"), "True"
    )


def test_scale_set_image_label_and_undo(kubectl: Kubectl, web: Path) -> None:
    assert kubectl("scale", "deployment/web", "--replicas=5").ok() == "deployment.apps/web scaled\n"
    kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    assert kubectl("get", "deploy", "web", "-o", "jsonpath={.status.readyReplicas}").ok() == "5"
    assert kubectl("set", "image", "deployment/web", "nginx=nginx:1.28").ok() == "deployment.apps/web image updated\n"
    kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    images = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}").ok().split()
    assert set(images) == {"nginx:1.28"}
    assert kubectl("label", "deployment/web", "tier=front").ok() == "deployment.apps/web labeled\n"
    assert kubectl("get", "deploy", "-l", "tier=front", "-o", "name").ok() == "deployment.apps/web\n"
    history = kubectl("rollout", "history", "deployment/web").ok()
    assert re.search(r"^1 +<none>\n2 +<none>$", history, re.MULTILINE)
    undone = kubectl("rollout", "undo", "deployment/web")
    assert (undone.out, undone.code) == ("deployment.apps/web rolled back\n", 0)
    kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    assert (
        kubectl("get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}").ok() == "nginx:1.27"
    )


def test_edit_with_a_script_as_editor(kubectl: Kubectl, web: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/replicas: 3/replicas: 2/" "$1"\n')
    editor.chmod(0o755)
    assert kubectl("edit", "deployment/web", env={"EDITOR": str(editor)}).ok() == "deployment.apps/web edited\n"
    kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    assert kubectl("get", "deploy", "web", "-o", "jsonpath={.status.replicas}").ok() == "2"


def test_describe_pod_reads_like_a_running_pod(kubectl: Kubectl, web: Path) -> None:
    pod = kubectl("get", "pods", "-o", "name").ok().split()[0]
    text = kubectl("describe", pod).ok()
    for line in (
        r"^Status: +Running$",
        r"^Controlled By: +ReplicaSet/web-\w+$",
        r"^ +Container ID: +containerd://[0-9a-f]{64}$",
        r"^ +Image: +nginx:1\.27$",
        r"^ +State: +Running$",
        r"^ +Ready: +True$",
        r"^QoS Class: +Burstable$",
        r"^Node: +node-[123]/172\.18\.0\.\d$",
        r"^ +Normal +Scheduled +\S+ +default-scheduler +Successfully assigned \S+ to node-[123]$",
        r"^ +Normal +Started +\S+ +kubelet ",
    ):
        assert re.search(line, text, re.MULTILINE), f"{line} not in\n{text}"


def test_delete_takes_the_pods_along(kubectl: Kubectl, web: Path) -> None:
    assert kubectl("delete", "-f", WEB).ok().splitlines() == [
        'deployment.apps "web" deleted from ' + _namespace(kubectl) + " namespace",
        'service "web" deleted from ' + _namespace(kubectl) + " namespace",
    ]
    kubectl("wait", "--for=delete", "pods", "-l", "app=web", "--timeout=40s")
    gone = kubectl("get", "deploy,rs,pods,svc")
    assert (gone.out, gone.code) == ("", 0)
    assert gone.err == f"No resources found in {_namespace(kubectl)} namespace.\n"


def _namespace(kubectl: Kubectl) -> str:
    return kubectl("get", "serviceaccount", "default", "-o", "jsonpath={.metadata.namespace}").ok()
