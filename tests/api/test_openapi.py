from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from engine.api.openapi.documents import OpenApi
from engine.api.openapi.enums import enums_of
from engine.api.resources import ResourceRegistry
from engine.api.schema import load_definitions
from tests.api.objects import DEFINITIONS, REGISTRY

OPENAPI = OpenApi(REGISTRY, DEFINITIONS)
VERSIONS = [(group, version) for group, versions in REGISTRY.groups.items() for version in versions]


def path_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def v3(group: str, version: str) -> Any:
    document = OPENAPI.v3(path_of(group, version))
    assert document is not None
    return orjson.loads(document)


@pytest.mark.parametrize("gv", VERSIONS, ids=lambda gv: "/".join(gv))
def test_every_reference_of_a_v3_document_is_in_it(gv: tuple[str, str]) -> None:
    document = OPENAPI.v3(path_of(*gv))
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
        if item.get("patch", {}).get("x-kubernetes-action") == "patch":  # others are passed on
            names = {parameter["name"] for parameter in item["patch"]["parameters"]}
            assert {"dryRun", "fieldValidation", "fieldManager", "force"} <= names, path


@pytest.mark.parametrize(("release", "published"), [("1.35", False), ("1.36", True), ("1.37", True)])
def test_a_shard_can_be_asked_for_from_the_release_on_whose_options_name_it(release: str, published: bool) -> None:
    """The gate is off, but operations tell all fields of their options."""
    older = OpenApi(ResourceRegistry.for_version(release), load_definitions(release)).v3("apis/apps/v1")
    assert older is not None
    item = orjson.loads(older)["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments"]
    for method, told in ("get", published), ("delete", published), ("post", False):
        assert ("shardSelector" in {each["name"] for each in item[method]["parameters"]}) == told


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
    assert {path_of(*gv) for gv in VERSIONS} < set(paths)
    url = paths["apis/apps/v1"]["serverRelativeURL"]
    assert url == f"/openapi/v3/apis/apps/v1?hash={OPENAPI.tag('apis/apps/v1')}"
    assert "api/v1" in paths


def test_hashes_differ_between_releases_and_versions() -> None:
    older = OpenApi(ResourceRegistry.for_version("1.33"), load_definitions("1.33"))
    hashes = {OPENAPI.tag("apis/apps/v1"), OPENAPI.tag("apis/batch/v1"), older.tag("apis/apps/v1")}
    assert len(hashes) == 3
    assert OPENAPI.tag("apis/apps/v1") == OpenApi(REGISTRY, DEFINITIONS).tag("apis/apps/v1")


RESTART = ["Always", "Never", "OnFailure"]


def test_values_of_a_field_are_told_as_a_server_does() -> None:
    """(kube-openapi pkg/generators/enum.go) The published schemas leave them out."""
    for document in (v3("", "v1")["components"]["schemas"], orjson.loads(OPENAPI.v2)["definitions"]):
        policy = document["io.k8s.api.core.v1.PodSpec"]["properties"]["restartPolicy"]
        assert policy["enum"] == RESTART
        assert policy["description"].endswith(
            '\n\nPossible enum values:\n - `"Always"`\n - `"Never"`\n - `"OnFailure"`'
        )
        assert document["io.k8s.api.core.v1.HostPathVolumeSource"]["properties"]["type"]["enum"][0] == ""
    older = orjson.loads(OpenApi(ResourceRegistry.for_version("1.33"), load_definitions("1.33")).v2)["definitions"]
    operators = older["io.k8s.api.core.v1.Toleration"]["properties"]["operator"]
    assert operators["enum"] == ["Equal", "Exists"]


def test_values_are_of_fields_that_there_are() -> None:
    for definition, fields in enums_of(DEFINITIONS.release).items():
        schema = DEFINITIONS.raw[f"io.k8s.api.{definition}"]
        assert fields.keys() <= schema["properties"].keys(), definition
        assert all(list(values) == sorted(values) for values in fields.values()), definition


SERVICES = {  # the operation, its tag, and the definition that it answers with
    ".well-known/openid-configuration": ("getServiceAccountIssuerOpenIDConfiguration", "WellKnown", ""),
    "api": ("getCoreAPIVersions", "core", "APIVersions"),
    "apis": ("getAPIVersions", "apis", "APIGroupList"),
    "apis/apps": ("getAppsAPIGroup", "apps", "APIGroup"),
    "apis/rbac.authorization.k8s.io": ("getRbacAuthorizationAPIGroup", "rbacAuthorization", "APIGroup"),
    "openid/v1/jwks": ("getServiceAccountIssuerOpenIDKeyset", "openid", ""),
    "version": ("getCodeVersion", "version", "Info"),
}


@pytest.mark.parametrize("path", SERVICES)
def test_what_tells_of_resources_is_told_of_too(path: str) -> None:
    operation, tag, answer = SERVICES[path]
    assert OPENAPI.index["paths"][path] == {"serverRelativeURL": f"/openapi/v3/{path}?hash={OPENAPI.tag(path)}"}
    document = orjson.loads(OPENAPI.v3(path) or b"")
    (at,) = document["paths"]
    told = document["paths"][at]["get"]
    assert (at, told["operationId"], told["tags"]) == (f"/{path}/", operation, [tag])
    assert sorted(told["responses"]) == ["200", "401"]
    schemas = {name.rpartition(".")[2] for name in document["components"].get("schemas", ())}
    assert answer in schemas if answer else not schemas
    assert orjson.loads(OPENAPI.v2)["paths"][f"/{path}/"]["get"]["operationId"] == operation


NAMED = {
    "/api/v1/pods": {"get": "listCoreV1PodForAllNamespaces"},
    "/api/v1/namespaces/{namespace}/pods": {
        "get": "listCoreV1NamespacedPod",
        "post": "createCoreV1NamespacedPod",
        "delete": "deleteCoreV1CollectionNamespacedPod",
    },
    "/api/v1/namespaces/{namespace}/pods/{name}/log": {"get": "readCoreV1NamespacedPodLog"},
    "/api/v1/namespaces/{namespace}/pods/{name}/exec": {
        "get": "connectCoreV1GetNamespacedPodExec",
        "post": "connectCoreV1PostNamespacedPodExec",
    },
    "/api/v1/nodes/{name}/proxy/{path}": {
        method: f"connectCoreV1{method.capitalize()}NodeProxyWithPath"
        for method in ("delete", "get", "head", "options", "patch", "post", "put")
    },
    "/api/v1/watch/pods": {"get": "watchCoreV1PodListForAllNamespaces"},
    "/api/v1/watch/namespaces/{namespace}/pods": {"get": "watchCoreV1NamespacedPodList"},
    "/api/v1/watch/namespaces/{namespace}/pods/{name}": {"get": "watchCoreV1NamespacedPod"},
}


@pytest.mark.parametrize("path", NAMED)
def test_operations_are_named_as_in_the_published_document(path: str) -> None:
    for paths in (v3("", "v1")["paths"], orjson.loads(OPENAPI.v2)["paths"]):
        item = paths[path]
        assert {method: item[method]["operationId"] for method in item if method != "parameters"} == NAMED[path]


def test_a_parameter_of_every_method_is_the_path_s() -> None:
    """kube-openapi moves it there, but for the body of v2."""
    v2 = orjson.loads(OPENAPI.v2)["paths"]
    binding = v2["/api/v1/namespaces/{namespace}/bindings"]
    shared = ["dryRun", "fieldManager", "fieldValidation", "namespace", "pretty"]
    assert [each["name"] for each in binding["parameters"]] == shared
    assert [each["name"] for each in binding["post"]["parameters"]] == ["body"]
    pod = v2["/api/v1/namespaces/{namespace}/pods/{name}"]
    assert [each["name"] for each in pod["parameters"]] == ["name", "namespace", "pretty"]
    assert "parameters" not in pod["get"]


def test_media_types_are_those_that_there_are() -> None:
    v2 = orjson.loads(OPENAPI.v2)["paths"]
    forms = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]
    pods = v2["/api/v1/namespaces/{namespace}/pods"]
    assert pods["post"]["produces"] == forms
    assert pods["get"]["produces"] == [*forms, *(f"{form};stream=watch" for form in (forms[0], forms[2]))]
    assert v2["/api/v1/namespaces/{namespace}/pods/{name}/exec"]["get"]["produces"] == ["*/*"]
    assert v2["/api/v1/namespaces/{namespace}/pods/{name}/log"]["get"]["produces"] == ["text/plain", *forms]


def test_an_article_goes_with_the_kind() -> None:
    v2 = orjson.loads(OPENAPI.v2)["paths"]
    words = {"events": "create an Event", "endpoints": "create Endpoints", "pods": "create a Pod"}
    for resource, text in words.items():
        assert v2[f"/api/v1/namespaces/{{namespace}}/{resource}"]["post"]["description"] == text
    eviction = v2["/api/v1/namespaces/{namespace}/pods/{name}/eviction"]["post"]
    assert eviction["description"] == "create eviction of a Pod"


def test_what_a_deletion_answers_with_is_the_object_for_some() -> None:
    paths = orjson.loads(OPENAPI.v2)["paths"]
    answers = {"pods": "Pod", "configmaps": "Status"}
    for resource, kind in answers.items():
        deletion = paths[f"/api/v1/namespaces/{{namespace}}/{resource}/{{name}}"]["delete"]
        assert deletion["responses"]["200"]["schema"]["$ref"].endswith(f".{kind}")


def test_what_is_not_served_has_no_document() -> None:
    assert OPENAPI.v3("apis/apps/v2") is None
