"""What the real kubectl says when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.conftest import Kubectl
from tests.engine_process import SAMPLES

WEB = (SAMPLES / "web.yaml").read_text()


def test_an_unknown_field_is_refused_and_nothing_of_the_object_is_applied(kubectl: Kubectl) -> None:
    ran = kubectl("apply", "-f", "-", stdin=WEB.replace("replicas: 3", "replica: 3"))
    assert ran.code == 1
    assert ran.out == "service/web created\n"
    assert ran.err == (
        'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as '
        'a Deployment: strict decoding error: unknown field "spec.replica"\n'
    )
    assert kubectl("get", "deploy").out == ""


def test_a_negative_replica_count_is_invalid(kubectl: Kubectl) -> None:
    ran = kubectl("apply", "-f", "-", stdin=WEB.replace("replicas: 3", "replicas: -1"))
    assert (ran.code, ran.out) == (1, "service/web created\n")
    assert ran.err == (
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n'
    )


def test_a_wrong_type_is_told_as_the_decoder_tells_it(kubectl: Kubectl) -> None:
    ran = kubectl("apply", "-f", "-", stdin=WEB.replace("replicas: 3", "replicas: three"))
    assert ran.code == 1
    assert (
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct '
        "field DeploymentSpec.spec.replicas of type int32" in ran.err
    )


def test_an_unknown_kind(kubectl: Kubectl) -> None:
    ran = kubectl("apply", "-f", "-", stdin="apiVersion: apps/v1\nkind: Deploymint\nmetadata: {name: web}\n")
    assert ran.code == 1
    assert ran.err == (
        'error: resource mapping not found for name: "web" namespace: "" from "STDIN": no matches for kind '
        '"Deploymint" in version "apps/v1"\nensure CRDs are installed first\n'
    )


def test_an_unknown_resource(kubectl: Kubectl) -> None:
    ran = kubectl("get", "foos")
    assert (ran.code, ran.err) == (1, 'error: the server doesn\'t have a resource type "foos"\n')


def test_a_missing_namespace(kubectl: Kubectl) -> None:
    ran = kubectl("--namespace=nowhere", "create", "configmap", "x")
    assert (ran.code, ran.err) == (1, 'error: failed to create configmap: namespaces "nowhere" not found\n')


def test_a_missing_object(kubectl: Kubectl) -> None:
    ran = kubectl("get", "deploy", "nothing")
    assert (ran.code, ran.err) == (1, 'Error from server (NotFound): deployments.apps "nothing" not found\n')


def test_a_stale_resource_version_is_a_conflict(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "x", "--from-literal=a=1").ok()
    stale = json.loads(kubectl("get", "configmap", "x", "-o", "json").ok())
    kubectl("label", "configmap", "x", "a=b").ok()
    ran = kubectl("replace", "-f", "-", stdin=json.dumps(stale))
    assert ran.code == 1
    assert ran.err == (
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "x": '
        "the object has been modified; please apply your changes to the latest version and try again\n"
    )


def test_a_user_without_rights_is_forbidden(kubectl: Kubectl, namespace: str) -> None:
    ran = kubectl("get", "pods", "--as=jane")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in '
        f'the namespace "{namespace}"\n'
    )


def test_the_same_name_twice(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "x").ok()
    ran = kubectl("create", "configmap", "x")
    assert (ran.code, ran.err) == (1, 'error: failed to create configmap: configmaps "x" already exists\n')


@pytest.mark.parametrize("verb", ["apply", "create"])
def test_files_that_are_not_manifests(kubectl: Kubectl, tmp_path: Path, verb: str) -> None:
    broken, empty, folder = tmp_path / "broken.yaml", tmp_path / "empty.yaml", tmp_path / "folder"
    broken.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n name: y\n")
    empty.write_text("")
    folder.mkdir()
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-folder\n")
    assert "error converting YAML to JSON: yaml: line" in kubectl(verb, "-f", str(broken)).err
    assert kubectl(verb, "-f", str(empty)).err == f"error: no objects passed to {verb}\n"
    assert kubectl(verb, "-f", str(folder)).ok() == "configmap/from-folder created\n"
    missing = kubectl(verb, "-f", str(tmp_path / "missing.yaml"))
    assert (missing.code, missing.err) == (1, f'error: the path "{tmp_path}/missing.yaml" does not exist\n')


def test_a_patch_of_a_wrong_type_is_shown_back(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx").ok()
    ran = kubectl("patch", "deployment", "web", "-p", '{"spec":{"replicas":"x"}}')
    assert (ran.code, ran.err) == (
        1,
        'The request is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32\n',
    )
    ran = kubectl("patch", "deployment", "web", "-p", "{bad")
    assert (ran.code, ran.err) == (
        1,
        "Error from server (BadRequest): invalid character 'b' looking for beginning of object key string\n",
    )


def test_what_is_applied_server_side_must_fit_the_schema(kubectl: Kubectl, namespace: str) -> None:
    ran = kubectl("apply", "--server-side", "-f", "-", stdin=WEB.replace("replicas: 3", "replica: 3"))
    assert (ran.code, ran.out) == (1, "service/web serverside-applied\n")
    assert ran.err == (
        f"Error from server: failed to create typed patch object ({namespace}/web; apps/v1, Kind=Deployment): "
        ".spec.replica: field not declared in schema\n"
    )


def test_a_service_changes_its_type(kubectl: Kubectl) -> None:
    kubectl("create", "service", "nodeport", "web", "--tcp=80").ok()
    assert kubectl("patch", "svc", "web", "-p", '{"spec":{"type":"ClusterIP"}}').ok() == "service/web patched\n"
    assert kubectl("get", "svc", "web", "--no-headers").ok().split()[1::3] == ["ClusterIP", "80/TCP"]
