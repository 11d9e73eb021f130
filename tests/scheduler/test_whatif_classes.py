"""What-if: which StorageClass a claim has that names none (the admission plugin DefaultStorageClass)."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.persistent_volumes import CLAIMS
from engine.api.types import Object
from engine.scheduler.whatif import ClusterObjects, Simulation
from tests.scheduler.objects import node
from tests.scheduler.test_whatif import storage_class, user, waiting


def default(name: str, year: int) -> Object:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": name, "annotations": annotations, "creationTimestamp": f"{year}-01-01T00:00:00Z"}
    return {**storage_class(name, "csi.example.com"), "metadata": metadata}


def without_class() -> Object:
    made = waiting("c", "")
    del made["spec"]["storageClassName"]
    return made


def by_annotation() -> Object:
    made = without_class()
    return {**made, "metadata": {**made["metadata"], "annotations": {"volume.beta.kubernetes.io/storage-class": ""}}}


DEFAULTS = [default("z-old", 2024), default("a-new", 2026)]


@pytest.mark.parametrize(
    ("classes", "claim", "storage", "placed"),
    [
        pytest.param(DEFAULTS, without_class(), "a-new", "a", id="the newest of the defaults"),
        pytest.param(DEFAULTS, waiting("c", "z-old"), "z-old", "a", id="its own"),
        pytest.param(DEFAULTS, waiting("c", ""), "", "", id="none is wanted"),
        pytest.param(DEFAULTS, by_annotation(), None, "", id="none is wanted, by annotation"),
        pytest.param([storage_class("x")], without_class(), None, "", id="no default"),
    ],
)
def test_the_class_of_a_claim(classes: list[Object], claim: Object, storage: str | None, placed: str) -> None:
    cluster = ClusterObjects.of_dump([node("a"), *classes, claim])
    outcome = asyncio.run(Simulation(cluster).place(user("p", "c")))
    (seen,) = cluster.lister(CLAIMS).list()
    assert (seen["spec"].get("storageClassName"), outcome.node) == (storage, placed)
