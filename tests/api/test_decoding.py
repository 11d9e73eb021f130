from __future__ import annotations

from typing import Any

import pytest

from engine.api.decoding import decode, load_json
from engine.api.errors import ApiError
from engine.api.types import GVK, Object
from tests.api.objects import DEFINITIONS, DEPLOYMENT, POD, container, deployment

SECRET = GVK("", "v1", "Secret")
QUANTITY_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

REFUSED = {
    "text for a number": (
        {"spec": {"replicas": "x"}},
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "a fraction for an integer": (
        {"spec": {"replicas": 1.5}},
        "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "too large an integer": (
        {"spec": {"replicas": 3_000_000_000}},
        "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "a list for an object": ([], "json: cannot unmarshal array into Go value of type v1.Deployment"),
    "a number for a struct": (
        {"spec": 1},
        "json: cannot unmarshal number into Go struct field Deployment.spec of type v1.DeploymentSpec",
    ),
    "an object for a list": (
        {"spec": {"template": {"spec": {"containers": {}}}}},
        "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers "
        "of type []v1.Container",
    ),
    "a number for text in a list": (
        {"spec": {"template": {"spec": {"containers": [{"env": [{"name": "A", "value": 1}]}]}}}},
        "json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value "
        "of type string",
    ),
    "a number for a named string": (
        {"spec": {"template": {"spec": {"containers": [{"imagePullPolicy": 1}]}}}},
        "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.imagePullPolicy "
        "of type v1.PullPolicy",
    ),
    "a boolean for a label": (
        {"metadata": {"labels": {"a": True}}},
        "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ),
    "no quantity": (
        {"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "a lot"}}}]}}}},
        QUANTITY_TEXT,
    ),
    "a number beyond 64 bits": (
        {"spec": {"replicas": 10**29}},
        f"json: cannot unmarshal number {10**29} into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "no time": (
        {"metadata": {"creationTimestamp": "yesterday"}},
        'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ),
    "a boolean for a number or a name": (
        {"spec": {"strategy": {"rollingUpdate": {"maxSurge": True}}}},
        "json: cannot unmarshal bool into Go struct field "
        "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
    ),
}


def decoded(value: Any, gvk: GVK = DEPLOYMENT) -> Any:
    return decode(DEFINITIONS, gvk, value)


def refusal(value: Any, gvk: GVK = DEPLOYMENT) -> str:
    with pytest.raises(ApiError) as caught:
        decoded(value, gvk)
    assert caught.value.code == 400
    assert caught.value.reason == "BadRequest"
    return caught.value.message


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_gos_words(name: str) -> None:
    value, text = REFUSED[name]
    assert refusal(value) == f'Deployment in version "v1" cannot be handled as a Deployment: {text}'


@pytest.mark.parametrize(
    ("text", "byte"),
    [
        ("Y*Q=", 1),
        ("YQ==YQ==", 4),
        ("YWE=YQ==", 4),
        ("YQ=a", 2),
        ("YQ=\na", 3),
        ("YQ=", 3),
        ("YQ", 0),
        ("ABCD\nEF", 5),
        ("A\nB", 1),
        ("ABCD=", 4),
        ("A=", 1),
        ("AB\u00e9", 2),
        ("AB==C", 4),
    ],
)
def test_base64_that_is_none(text: str, byte: int) -> None:
    """The bytes are those that the real kubectl names."""
    assert refusal({"data": {"a": text}}, SECRET).endswith(f"illegal base64 data at input byte {byte}")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("YQ\n==", "YQ=="),
        ("YQ=\n=", "YQ=="),
        ("YQ==\n", "YQ=="),
        ("YWI\n=\n", "YWI="),
        ("AB\r\nCD", "ABCD"),
        ("AB==", "AA=="),
        ("ABCDABC=", "ABCDABA="),
    ],
)
def test_base64_may_be_broken_into_lines_and_is_kept_as_go_writes_it(text: str, kept: str) -> None:
    assert decode(DEFINITIONS, SECRET, {"data": {"a": text}}).object["data"] == {"a": kept}


TYPES = {
    "an old version": (
        {"apiVersion": "extensions/v1beta1", "kind": "Deployment"},
        "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)",
    ),
    "no version of it": (
        {"apiVersion": "v1", "kind": "Deployment"},
        'Deployment in version "v1" cannot be handled as a Deployment: no kind "Deployment" is registered for version '
        '"v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ),
    "no kind": (
        {"kind": "Foo"},
        'Foo in version "v1" cannot be handled as a Deployment: no kind "Foo" is registered for version "apps/v1" in '
        'scheme "pkg/api/legacyscheme/scheme.go:30"',
    ),
    "another kind": (
        {"kind": "ReplicaSet"},
        'ReplicaSet in version "v1" cannot be handled as a Deployment: converting (v1.ReplicaSet) to '
        "(apps.Deployment): unknown conversion",
    ),
    "another kind of another group": (
        {"apiVersion": "v1", "kind": "ConfigMap"},
        'ConfigMap in version "v1" cannot be handled as a Deployment: converting (v1.ConfigMap) to '
        "(apps.Deployment): unknown conversion",
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_another_version_or_kind_is_refused(name: str) -> None:
    value, text = TYPES[name]
    assert refusal(value) == text


def test_unknown_fields_are_dropped_and_told_with_their_path() -> None:
    value = deployment(foo=1)
    value["spec"]["template"]["spec"]["containers"][0]["prots"] = []
    found = decoded(value)
    assert found.unknown == ['unknown field "spec.template.spec.containers[0].prots"', 'unknown field "spec.foo"']
    assert "foo" not in found.object["spec"]


def test_duplicate_fields_are_told_and_the_last_counts() -> None:
    found = decoded(load_json(b'{"spec": {"replicas": 1, "replicas": 2}}'))
    assert found.unknown == ['duplicate field "spec.replicas"']
    assert found.object["spec"] == {"replicas": 2}


def test_the_type_is_filled_in_and_comes_first() -> None:
    assert list(decoded({"metadata": {"name": "a"}}).object) == ["apiVersion", "kind", "metadata"]


def test_null_is_as_if_not_there() -> None:
    value = container(command=None, args=["a", None])
    value["metadata"]["labels"] = {"a": None}
    found = decoded(value, POD).object
    assert found["spec"]["containers"][0] == {"name": "web", "image": "nginx:1.27", "args": ["a", ""]}
    assert found["metadata"]["labels"] == {"a": ""}


DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
MISFITS: dict[str, tuple[Object, str]] = {
    "a scope": ({"scope": 5}, "CustomResourceDefinitionSpec.spec.scope of type v1.ResourceScope"),
    "a type below items": (
        {"versions": [{"schema": {"openAPIV3Schema": {"items": {"properties": {"a": {"type": 5}}}}}}]},
        "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.properties.type of type string",
    ),
    "a name below what else there may be": (
        {"versions": [{"schema": {"openAPIV3Schema": {"additionalProperties": {"required": [5]}}}}]},
        "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.additionalProperties.required of type string",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_into_a_definition_is_told_of_down_to_its_place(name: str) -> None:
    spec, told = MISFITS[name]
    assert refusal({"spec": spec}, DEFINITION).endswith(f"json: cannot unmarshal number into Go struct field {told}")


def test_a_struct_without_fields_takes_nothing_in() -> None:
    version = {"subresources": {"status": {"a": "b"}}}
    found = decode(DEFINITIONS, DEFINITION, {"spec": {"versions": [version]}})
    assert found.object["spec"]["versions"][0]["subresources"] == {"status": {}}
    assert found.unknown == ['unknown field "spec.versions[0].subresources.status.a"']


_HEALTH = {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}
LEFT_OUT: dict[str, tuple[GVK, Any, Any]] = {
    "the generation that a budget has seen": (
        GVK("policy", "v1", "PodDisruptionBudget"),
        {"status": {"observedGeneration": 0, **_HEALTH}},
        {"status": _HEALTH},
    ),
    "what a flow is for": (
        GVK("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"),
        {"spec": {"rules": [{"resourceRules": [{"clusterScope": False, "verbs": ["get"]}]}]}},
        {"spec": {"rules": [{"resourceRules": [{"verbs": ["get"]}]}]}},
    ),
    "a webhook's certificate": (
        GVK("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"),
        {"webhooks": [{"name": "a", "clientConfig": {"caBundle": "", "url": ""}}]},
        {"webhooks": [{"name": "a", "clientConfig": {"url": ""}}]},
    ),
    "a column and a property of a definition": (
        GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        {
            "spec": {
                "preserveUnknownFields": False,
                "versions": [
                    {
                        "additionalPrinterColumns": [{"name": "A", "priority": 0, "format": ""}],
                        "schema": {"openAPIV3Schema": {"nullable": False, "maxLength": 0}},
                    }
                ],
            }
        },
        {
            "spec": {
                "versions": [
                    {
                        "additionalPrinterColumns": [{"name": "A"}],
                        "schema": {"openAPIV3Schema": {"maxLength": 0}},
                    }
                ]
            }
        },
    ),
    "a time in a map": (
        GVK("policy", "v1", "PodDisruptionBudget"),
        {"status": {"disruptedPods": {"a": None}, **_HEALTH}},
        {"status": {"disruptedPods": {"a": None}, **_HEALTH}},
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_zero_values_of_structs_that_kubectl_does_not_print(name: str) -> None:
    gvk, given, kept = LEFT_OUT[name]
    found = decode(DEFINITIONS, gvk, given).object
    assert {field: found[field] for field in kept} == kept


def test_empty_lists_and_zero_values_do_not_survive_where_go_drops_them() -> None:
    found = decoded({"spec": {"hostNetwork": False, "volumes": [], "nodeSelector": {}, "nodeName": ""}}, POD).object
    assert found["spec"] == {}
    limits = GVK("", "v1", "LimitRange")
    assert decoded({"spec": {"limits": []}}, limits).object["spec"] == {}, "nor where the list must be there"


ZEROS: dict[str, tuple[GVK, Any, Any]] = {
    "a text": (GVK("events.k8s.io", "v1", "Event"), {"type": "", "note": ""}, {}),
    "names": (POD, {"metadata": {"name": "", "generateName": "", "resourceVersion": ""}}, {"metadata": {}}),
    "a truth": (
        GVK("", "v1", "PersistentVolume"),
        {"spec": {"nfs": {"readOnly": False}}},
        {"spec": {"nfs": {"server": "", "path": ""}}},
    ),
    "a list that must be there": (
        GVK("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"),
        {"spec": {"policyName": "", "validationActions": []}},
        {"spec": {}},
    ),
}


@pytest.mark.parametrize("name", ZEROS)
def test_zero_values_go_wherever_go_leaves_them_out(name: str) -> None:
    gvk, value, left = ZEROS[name]
    assert decoded(value, gvk).object == {"apiVersion": gvk.api_version, "kind": gvk.kind, **left}


def test_what_go_always_writes_is_there_though_nobody_gave_it() -> None:
    header, divided = {"name": "X"}, {"resourceFieldRef": {"resource": "limits.cpu"}}
    value = container(livenessProbe={"httpGet": {"httpHeaders": [header]}}, env=[{"name": "A", "valueFrom": divided}])
    value["spec"]["securityContext"] = {"sysctls": [{"name": "a.b"}]}
    found = decoded(value, POD).object["spec"]
    assert found["containers"][0]["livenessProbe"]["httpGet"]["httpHeaders"] == [{"name": "X", "value": ""}]
    assert found["containers"][0]["env"][0]["valueFrom"]["resourceFieldRef"]["divisor"] == "0"
    assert found["securityContext"]["sysctls"] == [{"name": "a.b", "value": ""}]
    status = {"containerStatuses": [{"name": "web"}], "conditions": [{"type": "Ready"}, None]}
    assert decoded({"status": status}, POD).object["status"] == {
        "containerStatuses": [{"name": "web", "image": "", "imageID": "", "ready": False, "restartCount": 0}],
        "conditions": [{"type": "Ready", "status": ""}, {"type": "", "status": ""}],
    }


def test_a_false_that_means_something_survives() -> None:
    spec = {"automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0}
    assert decoded({"spec": spec}, POD).object["spec"] == spec


def test_quantities_and_times_become_canonical() -> None:
    value = container(resources={"limits": {"cpu": "1000m", "memory": 1.5}})
    value["metadata"]["creationTimestamp"] = "2026-01-01T12:00:00.5+02:00"
    found = decoded(value, POD).object
    assert found["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1500m"}
    assert found["metadata"]["creationTimestamp"] == "2026-01-01T10:00:00Z"


def test_micro_times_keep_their_fraction() -> None:
    lease = GVK("coordination.k8s.io", "v1", "Lease")
    value = {"spec": {"renewTime": "2026-01-01T10:00:00.000001Z"}}
    assert decoded(value, lease).object["spec"] == value["spec"]
    assert 'cannot parse "Z" as ".000000"' in refusal({"spec": {"renewTime": "2026-01-01T10:00:00Z"}}, lease)


def test_the_value_is_left_alone_and_not_shared() -> None:
    value = container(env=[{"name": "A", "value": "1"}], foo="x")
    copy = container(env=[{"name": "A", "value": "1"}], foo="x")
    found = decoded(value, POD).object
    found["spec"]["containers"][0]["env"].append({"name": "B"})
    assert value == copy


def test_free_form_fields_are_kept_whole() -> None:
    revision = GVK("apps", "v1", "ControllerRevision")
    data = {"spec": {"anything": [1, None, {"a": False}]}}
    found = decoded({"data": data, "revision": 1}, revision)
    assert found.unknown == []
    assert found.object["data"] == data


def test_recursive_schemas_decode() -> None:
    definition = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    schema = {"type": "object", "properties": {"spec": {"properties": {"a": {"type": "string", "nope": 1}}}}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]
    found = decoded({"spec": {"versions": versions}}, definition)
    assert found.unknown == [
        'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.nope"'
    ]


SPEC = 'duplicate field "spec"'
# what came twice -> the fields of a Pod, its spec, what is told
TWICE: dict[str, tuple[str, Any, list[str]]] = {
    "a scalar": ('"spec":{"nodeName":"a","nodeName":"b"}', {"nodeName": "b"}, ['duplicate field "spec.nodeName"']),
    "a struct": ('"spec":{"nodeName":"a"},"spec":{"hostNetwork":true}', {"nodeName": "a", "hostNetwork": True}, [SPEC]),
    "a struct behind a pointer": (
        '"spec":{"securityContext":{"runAsUser":1,"runAsGroup":2},"securityContext":{"runAsUser":3}}',
        {"securityContext": {"runAsUser": 3, "runAsGroup": 2}},
        ['duplicate field "spec.securityContext"'],
    ),
    "a map": (
        '"spec":{"nodeSelector":{"a":"1","b":"2"},"nodeSelector":{"b":"3"}}',
        {"nodeSelector": {"a": "1", "b": "3"}},
        ['duplicate field "spec.nodeSelector"'],
    ),
    "a list, whose structs are filled where they stand": (
        '"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}],"containers":[{"name":"c"}]}',
        {"containers": [{"name": "c", "image": "i"}]},
        ['duplicate field "spec.containers"'],
    ),
    "null, which takes a pointer away": (
        '"spec":{"priority":1,"nodeName":"a","priority":null,"nodeName":null}',
        {"nodeName": "a"},
        ['duplicate field "spec.priority"', 'duplicate field "spec.nodeName"'],
    ),
    "null, which leaves what must be there as it is": (
        '"spec":{"tolerations":[],"schedulingGates":[{"name":"a","name":null}]}',
        {"schedulingGates": [{"name": "a"}]},
        ['duplicate field "spec.schedulingGates[0].name"'],
    ),
    "null, which leaves a struct as it is": ('"spec":{"nodeName":"a"},"spec":null', {"nodeName": "a"}, [SPEC]),
    "a quantity": (
        '"spec":{"overhead":{"cpu":"1","cpu":"2"}}',
        {"overhead": {"cpu": "2"}},
        ['duplicate field "spec.overhead.cpu"'],
    ),
    "a struct three times": (
        '"spec":{"dnsConfig":{"searches":["a"]},"dnsConfig":{"nameservers":["b"]},"dnsConfig":{"searches":["c","d"]}}',
        {"dnsConfig": {"searches": ["c", "d"], "nameservers": ["b"]}},
        ['duplicate field "spec.dnsConfig"'],
    ),
    "what is unknown in the first": (
        '"spec":{"dnsConfig":{"x":1},"dnsConfig":{"y":1}}',
        {"dnsConfig": {}},
        ['unknown field "spec.dnsConfig.x"', 'duplicate field "spec.dnsConfig"', 'unknown field "spec.dnsConfig.y"'],
    ),
    "something in what came twice itself": (
        '"spec":{"dnsConfig":{"searches":["a"],"searches":["b","c"]}},"spec":{"dnsConfig":{"searches":["d"]}}',
        {"dnsConfig": {"searches": ["d"]}},
        ['duplicate field "spec.dnsConfig.searches"', SPEC],
    ),
}


@pytest.mark.parametrize("row", TWICE.values(), ids=TWICE.keys())
def test_a_field_that_comes_again_fills_what_is_there(row: tuple[str, Any, list[str]]) -> None:
    text, held, told = row
    found = decode(DEFINITIONS, POD, load_json(f"{{{text}}}".encode()))
    assert (found.object["spec"], found.unknown) == (held, told)


def test_a_wrong_type_is_refused_also_where_a_right_one_follows() -> None:
    with pytest.raises(ApiError, match=r"cannot unmarshal number into Go struct field PodSpec\.spec\.nodeName"):
        decode(DEFINITIONS, POD, load_json(b'{"spec":{"nodeName":1,"nodeName":"a"}}'))


def test_what_comes_twice_on_each_of_many_levels_is_read_in_no_time() -> None:
    schema = '{"type":"string"}'
    for _ in range(40):
        schema = f'{{"properties":{{"a":{{"not":{schema}}}}},"properties":{{"b":{{}}}}}}'
    body = f'{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}'.encode()
    made = decode(DEFINITIONS, GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), load_json(body)).object
    found = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for _ in range(40):
        assert sorted(found["properties"]) == ["a", "b"]
        found = found["properties"]["a"]["not"]
    assert found == {"type": "string"}
