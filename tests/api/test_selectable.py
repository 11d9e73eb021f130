"""The labels that field selectors know, after upstream's TestSelectableFieldLabelConversions of each strategy."""

from __future__ import annotations

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.selectable import field_of, selectable_fields, unknown_field_text
from engine.api.types import GVK
from tests.api.objects import info

POD, NODE, CONFIG_MAP = GVK("", "v1", "Pod"), GVK("", "v1", "Node"), GVK("", "v1", "ConfigMap")
VOLUME, CLASS = GVK("", "v1", "PersistentVolume"), GVK("storage.k8s.io", "v1", "StorageClass")
NAMESPACE, REQUEST = GVK("", "v1", "Namespace"), GVK("certificates.k8s.io", "v1", "CertificateSigningRequest")
ROWS: dict[str, tuple[GVK, str, str | None]] = {
    "a name": (CONFIG_MAP, "metadata.name", "metadata.name"),
    "a namespace": (CONFIG_MAP, "metadata.namespace", "metadata.namespace"),
    "a namespace that objects have not": (VOLUME, "metadata.namespace", "metadata.namespace"),
    "another": (CLASS, "metadata.namespace", "metadata.namespace"),
    "a namespace of a node": (NODE, "metadata.namespace", None),
    "a namespace of a namespace": (NAMESPACE, "metadata.namespace", None),
    "a name as of old": (NAMESPACE, "name", None),
    "a namespace of a request": (REQUEST, "metadata.namespace", None),
    "a node": (POD, "spec.nodeName", "spec.nodeName"),
    "a node as of old": (POD, "spec.host", "spec.nodeName"),
    "a node of a node": (NODE, "spec.host", None),
    "what is none": (POD, "spec.foo", None),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_label_means(name: str) -> None:
    gvk, label, expected = ROWS[name]
    assert field_of(info(gvk), label) == expected


@pytest.mark.parametrize(
    ("gvk", "label", "text"),
    [
        (CONFIG_MAP, 'a\\b"', r'"a\\b\"" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        (POD, "a\\b", "field label not supported: a\\b"),
        (GVK("batch", "v1", "Job"), "a\\b", r'field label "a\\b" not supported for Job'),
    ],
)
def test_what_is_said_of_one_that_is_not_known(gvk: GVK, label: str, text: str) -> None:
    assert unknown_field_text(info(gvk), label) == text


def test_the_slices_of_a_pool_can_be_selected_since_1_37() -> None:
    gvk = GVK("resource.k8s.io", "v1", "ResourceSlice")
    slice_ = {"metadata": {"name": "a"}, "spec": {"nodeName": "one", "driver": "a.io", "pool": {"name": "gpus"}}}
    older = ResourceRegistry.for_version("1.36").by_kind(gvk)
    assert older is not None
    assert field_of(older, "spec.pool.name") is None
    assert field_of(info(gvk), "spec.pool.name") == "spec.pool.name"
    assert selectable_fields(info(gvk), slice_)["spec.pool.name"] == "gpus"
