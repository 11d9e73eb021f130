"""Answers of conversion webhooks (apiextensions-apiserver pkg/apiserver/conversion/webhook_converter_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.conversion_reviews import ConversionError, accepted, answered, review
from engine.api.types import GVK, Object

V1 = GVK("foo", "v1", "Widget")
KIND: Object = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
WIDGET: Object = {"apiVersion": "foo/v1", "kind": "Widget", "metadata": {"name": "a"}}


def success(*objects: Object, uid: str = "uid") -> Object:
    return {"uid": uid, "convertedObjects": list(objects), "result": {"status": "Success"}}


def test_a_review() -> None:
    assert review("v1beta1", "uid", [WIDGET], V1) == {
        "kind": "ConversionReview",
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "request": {"uid": "uid", "desiredAPIVersion": "foo/v1", "objects": [WIDGET]},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("v1", {**KIND, "response": success(WIDGET)}),
        ("v1beta1", {**KIND, "response": success(WIDGET)}),
        ("v1beta1", {"response": success(WIDGET, uid="other")}),
    ],
)
def test_an_answer_that_will_do(version: str, answer: Object) -> None:
    assert answered(answer, version, "uid", 1) == [WIDGET]


@pytest.mark.parametrize(
    ("version", "answer", "why"),
    [
        ("v1", KIND, "failed: no response provided"),
        ("v1beta1", {}, "failed: no response provided"),
        ("v1", {**KIND, "response": success(WIDGET, uid="")}, 'failed: expected response.uid="uid", got ""'),
        (
            "v1",
            {"kind": "ConversionReview", "response": success(WIDGET)},
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, "
            "Kind=ConversionReview",
        ),
        (
            "v1",
            {**KIND, "kind": "Other", "response": success(WIDGET)},
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got "
            "apiextensions.k8s.io/v1, Kind=Other",
        ),
        ("v1beta1", {"response": {"result": {}}}, "failed: response.result.status was '', not 'Success'"),
        (
            "v1beta1",
            {"response": {"result": {"status": "Failure"}}},
            "failed: response.result.status was 'Failure', not 'Success'",
        ),
        (
            "v1",
            {**KIND, "response": {"uid": "uid", "result": {"status": "Failure", "message": "mine"}}},
            "failed: mine",
        ),
        ("v1", {**KIND, "response": success()}, "returned 0 objects, expected 1"),
    ],
)
def test_an_answer_that_will_not_do(version: str, answer: Object, why: str) -> None:
    with pytest.raises(ConversionError) as caught:
        answered(answer, version, "uid", 1)
    assert str(caught.value) == why


BEFORE: Object = {
    "apiVersion": "foo/v2",
    "kind": "Widget",
    "metadata": {
        "name": "a",
        "uid": "1",
        "generation": 3,
        "finalizers": ["x/y"],
        "labels": {"a": "A", "b": "B"},
        "annotations": {"a": "1"},
    },
}


def converted(**metadata: Any) -> Object:
    return {"apiVersion": "foo/v1", "kind": "Widget", "metadata": {"name": "a", "uid": "1", **metadata}}


@pytest.mark.parametrize(
    ("metadata", "labels", "annotations"),
    [
        pytest.param({"labels": {"a": "AA"}, "annotations": {"b": "2"}}, {"a": "AA"}, {"b": "2"}, id="changed"),
        pytest.param({}, None, None, id="left out"),
        pytest.param({"labels": None, "annotations": None}, None, None, id="null"),
        pytest.param({"generation": 42, "finalizers": [], "resourceVersion": "42"}, None, None, id="the rest"),
    ],
)
def test_labels_and_annotations_are_the_webhooks(metadata: Object, labels: Any, annotations: Any) -> None:
    after = accepted(BEFORE, converted(**metadata), V1)["metadata"]
    assert (after.pop("labels", None), after.pop("annotations", None)) == (labels, annotations)
    assert after == {"name": "a", "uid": "1", "generation": 3, "finalizers": ["x/y"]}


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (
            {**converted(), "apiVersion": "foo/v3"},
            "returned invalid object at index 0: invalid groupVersion (expected foo/v1, received foo/v3)",
        ),
        (
            {**converted(), "kind": "Other"},
            "returned invalid object at index 0: invalid kind (expected Widget, received Other)",
        ),
        (["x"], "failed: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (None, "failed: Object 'Kind' is missing in 'null'"),
        (converted(name="b"), "returned invalid object: must have the same name: a != b"),
        (converted(namespace="n"), "returned invalid object: must have the same namespace:  != n"),
        (converted(uid="2"), "returned invalid object: must have the same UID: 1 != 2"),
        (
            converted(labels=["x"]),
            "returned invalid metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            converted(annotations={"a": None}),
            "returned invalid metadata: metadata.annotations[a] must be a string, but is <nil> in converted object",
        ),
        (
            converted(labels={"a": "x" * 64}),
            f'returned invalid metadata: metadata.labels: Invalid value: "{"x" * 64}": must be no more than 63 bytes',
        ),
    ],
)
def test_what_a_webhook_may_not_change(after: Any, why: str) -> None:
    with pytest.raises(ConversionError) as caught:
        accepted(BEFORE, after, V1)
    assert str(caught.value) == why
