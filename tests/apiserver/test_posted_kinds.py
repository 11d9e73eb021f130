"""What is posted as another kind, or of a version that is none: each of the three servers in a kube-apiserver knows the
kinds of its own scheme."""

from __future__ import annotations

import pytest

from engine.api.wire import APPLY_PATCH, JSON, YAML
from engine.client import Client

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
UNKNOWN = '{} in version "{}" cannot be handled as a {}: no kind "{}" is registered for version "{}" in scheme "{}"'
VERSIONS = "the API version in the data ({0}/v1beta1) does not match the expected API version ({0}/v1)"
EXTENSIONS, AGGREGATOR, LEGACY = (
    "pkg/apiserver/apiserver.go:57",
    "pkg/apiserver/scheme/scheme.go:32",
    "pkg/api/legacyscheme/scheme.go:30",
)


def unknown(path: str, api_version: str, kind: str, wanted: str, scheme: str) -> tuple[str, str, str, str]:
    version = api_version.rpartition("/")[2]
    return path, api_version, kind, UNKNOWN.format(kind, version, wanted, kind, api_version, scheme)


ROWS = [
    unknown(CRDS, "v1", "Pod", "CustomResourceDefinition", EXTENSIONS),
    unknown(CRDS, "stable.example.com/v1", "CronTab", "CustomResourceDefinition", EXTENSIONS),
    unknown(SERVICES, "apps/v1", "Deployment", "APIService", AGGREGATOR),
    unknown(DEPLOYMENTS, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "Deployment", LEGACY),
    unknown(DEPLOYMENTS, "apiregistration.k8s.io/v1beta1", "APIService", "Deployment", LEGACY),
    unknown(DEPLOYMENTS, "apps/v1beta1", "DaemonSet", "Deployment", LEGACY),
    (CRDS, "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", VERSIONS.format("apiextensions.k8s.io")),
    (SERVICES, "apiregistration.k8s.io/v1beta1", "APIService", VERSIONS.format("apiregistration.k8s.io")),
    (DEPLOYMENTS, "apps/v1beta1", "Deployment", VERSIONS.format("apps")),
    (
        CRDS,
        "v1",
        "Status",
        'Status in version "v1" cannot be handled as a CustomResourceDefinition: converting (v1.Status) to '
        "(apiextensions.CustomResourceDefinition): unknown conversion",
    ),
    (
        DEPLOYMENTS,
        "apps/v1",
        "DeleteOptions",
        'DeleteOptions in version "v1" cannot be handled as a Deployment: converting (v1.DeleteOptions) to '
        "(apps.Deployment): unknown conversion",
    ),
]


@pytest.mark.parametrize("content_type", [JSON, YAML])
async def test_another_kind_is_refused_in_the_words_of_its_server(client: Client, content_type: str) -> None:
    for path, api_version, kind, message in ROWS:
        body = f'{{"apiVersion": "{api_version}", "kind": "{kind}"}}'.encode()
        answer = await client.send("POST", path, body=body, headers={"content-type": content_type})
        assert (answer.status, answer.body["message"]) == (400, message)


async def test_a_version_that_is_none(client: Client) -> None:
    body = b'{"apiVersion":"a/b/c","kind":"Deployment"}'
    answer = await client.send("POST", DEPLOYMENTS, body=body)
    assert (answer.status, answer.body["message"]) == (
        400,
        "the object provided is unrecognized (must be of type Deployment): unexpected GroupVersion string: a/b/c "
        '({"apiVersion":"a/b/c","kind":" ...)',
    )
    headers, query = {"content-type": APPLY_PATCH}, {"fieldManager": ["m"]}
    answer = await client.send("PATCH", f"{DEPLOYMENTS}/web", query=query, body=body, headers=headers)
    assert (answer.status, answer.body["message"]) == (400, "invalid object type: /, Kind=")


@pytest.mark.parametrize("api_version", ["", "/", "apps/"])
async def test_a_version_that_is_left_out_is_that_of_the_path(client: Client, api_version: str) -> None:
    body = f'{{"apiVersion": "{api_version}", "kind": "Deployment", "metadata": {{"name": "web"}}}}'.encode()
    answer = await client.send("POST", DEPLOYMENTS, body=body)
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
