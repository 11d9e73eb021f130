"""`ktui trace`: the hops from keystroke to Ready, of what the real kubectl has done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.conftest import Kubectl
from tests.engine_process import Home


@pytest.mark.parametrize("kind", ["deployment", "deploy", "deployments.apps"])
def test_every_hop_is_told_in_a_tree_of_causes(home: Home, namespace: str, web: Path, kind: str) -> None:
    spans = json.loads(home.ktui("trace", f"{kind}/web", "-n", namespace, "-o", "json", check=True).out)
    by_id = {span["id"]: span for span in spans}
    [root] = [span for span in spans if span["hop"] == 1]
    assert (root["component"], root["object"], root["parent"]) == ("kubectl", f"deployment/{namespace}/web", "")
    assert {span["hop"] for span in spans} >= set(range(1, 12))
    for span in spans:
        assert span["traceId"] == root["traceId"]
        assert span is root or span["parent"] in by_id
        assert span["wall_ms"] >= 0
        assert span["model_ms"] == 0  # the profile is `instant`
    started = [span for span in spans if span["verb"] == "StartContainer"]
    assert len(started) == 3


def test_what_no_client_wrote_is_traced_to_the_write_that_made_it(
    home: Home, kubectl: Kubectl, namespace: str, web: Path
) -> None:
    pod = kubectl("get", "pods", "-o", "name").ok().split()[0]
    traced = {
        span["traceId"] for span in json.loads(home.ktui("trace", pod, "-n", namespace, "-o", "json", check=True).out)
    }
    deployment = json.loads(home.ktui("trace", "deploy/web", "-n", namespace, "-o", "json", check=True).out)
    assert traced == {span["traceId"] for span in deployment}


def test_nodes_have_no_namespace(home: Home) -> None:
    home.kubectl("label", "node", "node-1", "a=b", "--overwrite").ok()
    assert "①" in home.ktui("trace", "node/node-1", check=True).out


def test_a_kind_that_is_none_is_said(home: Home) -> None:
    ran = home.ktui("trace", "deploymint/web")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == 'error: the server doesn\'t have a resource type "deploymint"\n'
