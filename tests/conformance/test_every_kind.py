"""The real kubectl and every built-in kind: what it prints is in `golden/`, what it refuses in `manifests/`."""

from __future__ import annotations

import asyncio

import pytest

from tests.conformance.kinds import FOLDER, Manifest, load, of_role
from tests.conformance.walk import DESCRIBE, GOLDEN, Walked, walk

KINDS = sorted(file.stem for file in FOLDER.glob("*.yaml"))
STORED = sorted({manifest.kind for manifest in of_role(load(), "full")})
INVALID = [pytest.param(manifest, id=f"{manifest.kind}-{manifest.name}") for manifest in of_role(load(), "invalid")]
# What is served and has no manifest: it can only be read.
READ_ONLY = {
    ("v1", "ComponentStatus"),
    ("metrics.k8s.io/v1beta1", "NodeMetrics"),
    ("metrics.k8s.io/v1beta1", "PodMetrics"),
}


@pytest.fixture(scope="module")
def walked() -> Walked:
    return asyncio.run(walk())


def test_every_served_kind_is_walked_over(walked: Walked) -> None:
    assert walked.served_kinds - READ_ONLY <= {manifest.type for manifest in load()}


@pytest.mark.parametrize("kind", KINDS)
def test_kubectl_prints_of_it_what_it_should(kind: str, walked: Walked) -> None:
    assert walked.golden(kind) == (GOLDEN / f"{kind}.txt").read_text()


@pytest.mark.parametrize("manifest", INVALID)
def test_what_is_invalid_is_refused_in_kubernetes_words(manifest: Manifest, walked: Walked) -> None:
    assert manifest.refusal in walked.refused


def test_applying_again_writes_nothing(walked: Walked) -> None:
    assert walked.written_again == []


@pytest.mark.parametrize("kind", STORED)
def test_ours_describes_it_as_kubectl_does(kind: str, walked: Walked) -> None:
    assert walked.described_by_ours[kind] == walked.printed[kind][f"kubectl {DESCRIBE}"]
