"""Which form of an answer an Accept header gets (apiserver pkg/endpoints/handlers/negotiation and response.go)."""

from __future__ import annotations

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR
from engine.api.wire import Request
from engine.apiserver.registry.representation import Form, is_for_a_person, negotiate
from engine.apiserver.server import ApiServer
from engine.client import Client
from tests.apiserver.conftest import ADMIN, config_map
from tests.apiserver.test_create import deployment

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
_TABLE = "as=Table;v={};g=meta.k8s.io"
FORMS: dict[str, tuple[str, Form | None]] = {
    "nothing": ("", Form()),
    "anything": ("*/*", Form()),
    "YAML": (YAML, Form(YAML)),
    "the first": (f"{YAML}, {JSON}", Form(YAML)),
    "what is liked best": (f"{JSON};q=0.5, {YAML}", Form(YAML)),
    "a quality that is none": (f"{JSON};q=much, {YAML};q=0.1", Form(YAML)),
    "a quality with a space": (f"{JSON};q= 1, {YAML};q=0.1", Form(YAML)),
    "a star": ("*", Form()),
    "a type alone, or YAML": (f"application, {YAML}", Form(YAML)),
    "a type alone": ("application", None),
    "nothing between commas": (f", {YAML},", Form(YAML)),
    "spaces around the slash": ("application / yaml", Form(YAML)),
    "three parts, or YAML": (f"application/json/x, {YAML}", Form(YAML)),
    "a parameter of no value": (f"{JSON};as;v=;g", Form()),
    "narrower, but liked less, is first where it comes later": (f"*/*;q=0.9, {YAML};q=0.5", Form(YAML)),
    "and second where it comes first": (f"{YAML};q=0.5, */*;q=0.9", Form()),
    "YAML as a stream": (f"{YAML};stream=watch", None),
    "what is liked as well": (f"{JSON};q=0.5, {YAML};q=0.5", Form(JSON)),
    "a kind": ("application/*", Form()),
    "something narrower than anything": (f"*/*, {YAML}", Form(YAML)),
    "something narrower than a kind": (f"application/*, {YAML}", Form(YAML)),
    "what nobody knows, or JSON": (f"unrecognized/stuff,{JSON}; pretty=1", Form()),
    "a group without a form": (f"{JSON};g=meta.k8s.io;v=v1", None),
    "a table": (f"{JSON};{_TABLE.format('v1')}", Form(JSON, "Table")),
    "a table of old": (f"{JSON};{_TABLE.format('v1beta1')}", Form(JSON, "Table", "v1beta1")),
    "as kubectl asks": (
        f"{JSON};{_TABLE.format('v1')},{JSON};{_TABLE.format('v1beta1')},{JSON}", Form(JSON, "Table"),
    ),
    "a table that there will be": (f"{JSON};{_TABLE.format('v2')},{JSON}", Form()),
    "a table that there will be, or nothing": (f"{JSON};{_TABLE.format('v2')}", None),
    "protobuf or else JSON": (f"{PROTOBUF},{JSON}", Form(PROTOBUF)),
    "JSON or else protobuf": (f"{JSON},{PROTOBUF}", Form()),
    "metadata in protobuf or else in JSON": (
        f"{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io,"
        f"{JSON};as=PartialObjectMetadata;v=v1;g=meta.k8s.io,{JSON}",
        Form(PROTOBUF, "PartialObjectMetadata"),
    ),
    "protobuf alone": (PROTOBUF, Form(PROTOBUF)),
    "a table in protobuf or else JSON": (f"{PROTOBUF};{_TABLE.format('v1')},{JSON}", Form()),
    "a table in protobuf": (f"{PROTOBUF};{_TABLE.format('v1')}", None),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_chosen(name: str) -> None:
    accept, expected = FORMS[name]
    if expected is not None:
        assert negotiate(accept) == expected
        return
    with pytest.raises(ApiError) as refused:
        negotiate(accept)
    assert refused.value.code == 406


def accept(kind: str, version: str = "v1") -> dict[str, str]:
    return {"accept": f"{JSON};as={kind};v={version};g=meta.k8s.io"}


async def test_old_versions_of_tables_and_metadata(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    path = "/api/v1/namespaces/default/configmaps"
    for kind, where in (("Table", path), ("PartialObjectMetadataList", path), ("PartialObjectMetadata", f"{path}/a")):
        answer = await client.send("GET", where, headers=accept(kind, "v1beta1"))
        assert (answer.body["kind"], answer.body["apiVersion"]) == (kind, "meta.k8s.io/v1beta1")


async def test_one_is_not_many(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    path = "/api/v1/namespaces/default/configmaps"
    roles = GVR("rbac.authorization.k8s.io", "v1", "roles").path("default")
    for kind, where, text in (
        (
            "PartialObjectMetadata", path,
            "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
        ),
        (
            "PartialObjectMetadataList", f"{path}/a",
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
        ),
        (
            "PartialObjectMetadata", roles,
            "you requested PartialObjectMetadata, but the requested object is a list (*rbac.RoleList)",
        ),
    ):  # fmt: skip
        answer = await client.send("GET", where, headers=accept(kind))
        assert (answer.status, answer.body["reason"], answer.body["message"]) == (406, "NotAcceptable", text)


# Accept of a watch -> what is refused
STREAMS: dict[str, tuple[str, bool]] = {
    "nothing": ("", True),
    "JSON": (JSON, True),
    "JSON as a stream": (f"{JSON};stream=watch", True),
    "JSON as another stream": (f"{JSON};stream=other", False),
    "YAML": (YAML, False),
    "YAML or JSON": (f"{YAML};q=0.1,{JSON}", True),
}


@pytest.mark.parametrize("row", STREAMS.values(), ids=STREAMS.keys())
async def test_what_a_watch_can_be(client: Client, row: tuple[str, bool]) -> None:
    accept, served = row
    answer = await client.send(
        "GET", CONFIGMAPS.path("default"), query={"watch": ["1"], "timeoutSeconds": ["1"]}, headers={"accept": accept}
    )
    if served:
        assert answer.events is not None
        assert [event async for event in answer.events] == []
        return
    assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")
    streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    if accept == YAML:
        assert answer.body["message"] == f"only the following media types are accepted: {streams}"


@pytest.mark.parametrize(
    ("accept", "pretty"),
    [(JSON, False), (f"{JSON}; pretty=1", True), (f"{JSON};pretty=true", False), (f"a/b, {JSON};pretty=1", True)],
)
def test_an_answer_for_people(accept: str, pretty: bool) -> None:
    assert is_for_a_person(Request("GET", "/api", headers={"accept": accept})) is pretty


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_the_rows_of_a_table_are_of_its_version(client: Client, version: str) -> None:
    accept = {"accept": f"{JSON};{_TABLE.format(version)}"}
    listed = await client.send("GET", CONFIGMAPS.path(None), headers=accept)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    query = {"watch": ["1"], "timeoutSeconds": ["1"], "resourceVersion": [listed.body["metadata"]["resourceVersion"]]}
    watched = await client.send("GET", CONFIGMAPS.path(None), query=query, headers=accept)
    assert watched.events is not None
    [event] = [event async for event in watched.events]
    again = await client.send("GET", CONFIGMAPS.path("default"), headers=accept)
    for table in (event.object, again.body):
        assert (table["kind"], table["apiVersion"]) == ("Table", f"meta.k8s.io/{version}")
        [row] = table["rows"]
        assert (row["object"]["kind"], row["object"]["apiVersion"]) == (
            "PartialObjectMetadata",
            f"meta.k8s.io/{version}",
        )


@pytest.mark.parametrize("watch", ["", "1"])
async def test_a_table_of_what_nobody_knows(client: Client, watch: str) -> None:
    query = {"includeObject": ["unrecognized"], **({"watch": [watch]} if watch else {})}
    answer = await client.send(
        "GET", CONFIGMAPS.path(None), query=query, headers={"accept": f"{JSON};{_TABLE.format('v1')}"}
    )
    assert (answer.status, answer.body["message"]) == (
        400,
        'Unable to convert to Table as requested: includeObject: Invalid value: "unrecognized": '
        "must be 'Metadata', 'Object', 'None', or empty",
    )


async def test_a_scale_is_a_table_too(client: Client) -> None:
    made = await client.create(DEPLOYMENTS, deployment("web"), namespace="default")
    answer = await client.send(
        "GET", f"{DEPLOYMENTS.path('default', 'web')}/scale", headers={"accept": f"{JSON};{_TABLE.format('v1')}"}
    )
    assert [column["name"] for column in answer.body["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    [row] = answer.body["rows"]
    assert row["cells"][:3] == ["web", made["spec"]["replicas"], 0]


async def test_what_is_answered_and_not_kept_has_no_table(server: ApiServer) -> None:
    headers = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io", "content-type": "application/json"}
    spec = {"nonResourceAttributes": {"path": "/", "verb": "get"}}
    body = orjson.dumps({"spec": spec})
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = await server.handle(Request("POST", path, headers=headers, body=body, certificate=ADMIN))
    assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")
    headers["accept"] += ",application/json"
    answer = await server.handle(Request("POST", path, headers=headers, body=body, certificate=ADMIN))
    assert (answer.status, answer.body["kind"]) == (201, "SelfSubjectAccessReview")


async def test_openapi_v3_has_a_protobuf(client: Client) -> None:
    path, media_type = "/openapi/v3/apis/policy/v1", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
    json = await client.send("GET", path)
    for asked in (media_type, media_type.replace("v3.v1.0", "v3@v1.0")):
        answer = await client.send("GET", path, headers={"accept": asked})
        assert (answer.status, answer.headers["content-type"]) == (200, media_type)
        assert answer.body.startswith(b"\n\x05" + json.body["openapi"].encode())
        assert answer.headers["etag"] == json.headers["etag"]
    assert (await client.send("GET", path, headers={"accept": "application/xml"})).status == 406


async def test_discovery_is_aggregated_for_who_likes_that_best(client: Client) -> None:
    """(discovery/aggregated/wrapper.go) Group, version and kind must be those; what is liked better goes first."""
    asked = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    rows = {
        asked: True,
        f"application/json,{asked}": False,
        f"application/json;q=0.5,{asked};q=0.9": True,
        f"{asked};q=0.1,application/json;q=0.9": False,
        "application/json;v=v2;as=APIGroupDiscoveryList,application/json": False,
        "application/json;g=meta.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json": False,
        f"application/json;g=apidiscovery.k8s.io,{asked}": True,
    }
    for accept, aggregated in rows.items():
        for path, plain in (("/api", "APIVersions"), ("/apis", "APIGroupList")):
            body = (await client.send("GET", path, headers={"accept": accept})).body
            assert body["kind"] == ("APIGroupDiscoveryList" if aggregated else plain), (path, accept)


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
async def test_what_tells_of_resources_is_converted_to_nothing(client: Client, path: str) -> None:
    """(negotiation.DefaultEndpointRestrictions of pkg/endpoints/discovery)"""
    for parameters in (
        "g=x",
        "v=v1",
        "as=Table;g=meta.k8s.io;v=v1",
        "as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v9",
    ):
        refused = await client.send("GET", path, headers={"accept": f"{JSON};{parameters}"})
        assert refused.status == 406, (path, parameters)
        assert refused.body["message"].startswith("only the following media types are accepted: application/json, ")
        fallen_back = await client.send("GET", path, headers={"accept": f"{JSON};{parameters},{JSON}"})
        assert fallen_back.status == 200, (path, parameters)


async def test_who_has_an_openapi_document_need_not_get_it(client: Client) -> None:
    for path in ("/openapi/v2", "/openapi/v3/apis/apps/v1"):
        tag = (await client.send("GET", path)).headers["etag"]
        rows = {tag: 304, "*": 304, f'"x", {tag}': 304, f"W/{tag}": 304, '"x"': 200, "": 200}
        for header, code in rows.items():
            assert (await client.send("GET", path, headers={"if-none-match": header})).status == code, (path, header)


async def test_the_paths_of_openapi_are_in_order(client: Client) -> None:
    paths = list((await client.send("GET", "/openapi/v3")).body["paths"])
    assert paths == sorted(paths)


async def test_what_the_index_does_not_name_is_not_there(client: Client) -> None:
    """(kube-aggregator openapiv3/aggregator) Without a word, whatever form is asked for."""
    for path in ("", "api/v2", "apis/nope", "apis/apps/v9", "logs"):
        answer = await client.send("GET", f"/openapi/v3/{path}", headers={"accept": "application/xml"})
        assert (answer.status, answer.body) == (404, b""), path
