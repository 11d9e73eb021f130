from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from engine.api.openapi.documents import OpenApi
from engine.api.resources import ResourceRegistry
from engine.api.schema import load_definitions
from tests.api.objects import DEFINITIONS, REGISTRY

OPENAPI = OpenApi(REGISTRY, DEFINITIONS)
VERSIONS = [(group, version) for group, versions in REGISTRY.groups.items() for version in versions]


def v3(group: str, version: str) -> Any:
    document = OPENAPI.v3(group, version)
    assert document is not None
    return orjson.loads(document)


@pytest.mark.parametrize("gv", VERSIONS, ids=lambda gv: "/".join(gv))
def test_every_reference_of_a_v3_document_is_in_it(gv: tuple[str, str]) -> None:
    document = OPENAPI.v3(*gv)
    assert document is not None
    named = set(re.findall(rb'"#/components/schemas/([^"]+)"', document))
    schemas = orjson.loads(document)["components"]["schemas"]
    assert {name.decode() for name in named} <= set(schemas)


def test_every_reference_of_the_v2_document_is_in_it() -> None:
    named = set(re.findall(rb'"#/definitions/([^"]+)"', OPENAPI.v2))
    assert {name.decode() for name in named} <= set(orjson.loads(OPENAPI.v2)["definitions"])


@pytest.mark.parametrize("gv", VERSIONS, ids=lambda gv: "/".join(gv))
def test_every_patch_says_that_it_can_run_dry_and_validate_fields(gv: tuple[str, str]) -> None:
    """kubectl looks at any one PATCH operation of a kind for these parameters."""
    for path, item in v3(*gv)["paths"].items():
        if "patch" in item:
            names = {parameter["name"] for parameter in item["patch"]["parameters"]}
            assert {"dryRun", "fieldValidation", "fieldManager", "force"} <= names, path


def test_collections_name_their_kind_for_kubectl_explain() -> None:
    item = v3("apps", "v1")["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments"]
    kind = {"group": "apps", "kind": "Deployment", "version": "v1"}
    assert item["get"]["x-kubernetes-group-version-kind"] == kind
    assert item["get"]["x-kubernetes-action"] == "list"
    assert item["post"]["requestBody"]["content"]["*/*"]["schema"] == {
        "$ref": "#/components/schemas/io.k8s.api.apps.v1.Deployment"
    }


def test_subresources_name_the_kind_that_they_carry() -> None:
    paths = v3("apps", "v1")["paths"]
    scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
    assert scale["put"]["x-kubernetes-group-version-kind"]["kind"] == "Scale"


ANSWERS = {
    ("deployments", "get"): ["200"],
    ("deployments", "post"): ["200", "201", "202"],
    ("deployments", "delete"): ["200"],
    ("deployments/{name}", "put"): ["200", "201"],
    ("deployments/{name}", "patch"): ["200", "201"],
    ("deployments/{name}", "delete"): ["200", "202"],
    ("deployments/{name}/status", "put"): ["200", "201"],
    ("pods/{name}/eviction", "post"): ["200", "201", "202"],
    ("pods/{name}/exec", "post"): ["200"],
}


@pytest.mark.parametrize(("of", "answers"), ANSWERS.items(), ids=map(" ".join, ANSWERS))
def test_operations_name_all_that_they_may_be_answered_with(of: tuple[str, str], answers: list[str]) -> None:
    """A client that is made from the document takes what is made for an error if only 200 is named."""
    path, method = of
    group = "/apis/apps/v1" if path.startswith("deployments") else "/api/v1"
    for document in (v3("apps", "v1") if "apps" in group else v3("", "v1"), orjson.loads(OPENAPI.v2)):
        responses = document["paths"][f"{group}/namespaces/{{namespace}}/{path}"][method]["responses"]
        assert list(responses) == [*answers, "401"]


def test_schemas_are_those_of_an_api_server_again() -> None:
    schemas = v3("apps", "v1")["components"]["schemas"]
    spec = schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]
    assert spec["replicas"]["type"] == "integer"
    assert spec["template"]["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec"}]
    assert "enum" not in schemas["io.k8s.api.apps.v1.Deployment"]["properties"]["kind"]
    number_or_name = schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    assert number_or_name["format"] == "int-or-string"
    assert "null" not in re.findall(r'"type":\["?(\w+)', orjson.dumps(schemas).decode())


def test_v2_spells_numbers_or_names_in_its_own_way() -> None:
    definitions = orjson.loads(OPENAPI.v2)["definitions"]
    number_or_name = definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    assert (number_or_name["type"], number_or_name["format"]) == ("string", "int-or-string")
    assert definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"


def test_the_index_lists_every_version_with_a_hash() -> None:
    paths = OPENAPI.index["paths"]
    assert len(paths) == len(VERSIONS)
    url = paths["apis/apps/v1"]["serverRelativeURL"]
    assert url == f"/openapi/v3/apis/apps/v1?hash={OPENAPI.hash('apps', 'v1')}"
    assert "api/v1" in paths


def test_hashes_differ_between_releases_and_versions() -> None:
    older = OpenApi(ResourceRegistry.for_version("1.33"), load_definitions("1.33"))
    hashes = {OPENAPI.hash("apps", "v1"), OPENAPI.hash("batch", "v1"), older.hash("apps", "v1")}
    assert len(hashes) == 3
    assert OPENAPI.hash("apps", "v1") == OpenApi(REGISTRY, DEFINITIONS).hash("apps", "v1")


def test_what_is_not_served_has_no_document() -> None:
    assert OPENAPI.v3("apps", "v2") is None
