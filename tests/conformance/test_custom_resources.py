"""A CustomResourceDefinition and its objects, through the real kubectl and the libraries that operators use."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import yaml

from tests.conformance.conftest import Kubectl
from tests.conformance.conversion import ConversionWebhook
from tests.engine_process import Home

FILE = Path(__file__).parent / "crontab.yaml"
_number = count(1)

CRON_TAB = """
apiVersion: {group}/v1
kind: CronTab
metadata: {{name: {name}}}
spec: {{cronSpec: "* * * * */5", image: cron{more}}}
"""


@pytest.fixture
def group(kubectl: Kubectl) -> Iterator[str]:
    """A group of the test's own in which CronTabs are defined."""
    group = f"g{next(_number)}.example.com"
    kubectl("apply", "-f", "-", stdin=FILE.read_text().replace("stable.example.com", group)).ok()
    yield group
    kubectl("delete", "crd", f"crontabs.{group}", "--wait=false")


def _cron_tab(group: str, name: str = "a", more: str = "") -> str:
    return CRON_TAB.format(group=group, name=name, more=more)


def test_an_object_can_be_applied_as_soon_as_its_definition_is(kubectl: Kubectl, group: str) -> None:
    made = kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
    assert made == f"crontab.{group}/a created\n"
    assert kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok() == f"crontab.{group}/a unchanged\n"
    changed = _cron_tab(group, more=", replicas: 3")
    assert kubectl("apply", "-f", "-", stdin=changed).ok() == f"crontab.{group}/a configured\n"
    assert (
        kubectl("get", f"crontabs.{group}", "a", "-o", "jsonpath={.spec.replicas} {.metadata.generation}").ok() == "3 2"
    )


def test_tables_have_the_columns_of_the_definition(kubectl: Kubectl, group: str) -> None:
    kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
    plural = f"crontabs.{group}"
    head, row = kubectl("get", plural).ok().splitlines()
    assert head.split() == ["NAME", "SPEC", "REPLICAS", "AGE"]
    assert re.fullmatch(r"a +\* \* \* \* \*/5 +1 +\d+s", row)
    assert kubectl("get", plural, "-o", "wide").ok().split()[:5] == ["NAME", "SPEC", "REPLICAS", "IMAGE", "AGE"]
    assert f"crontab.{group}/a" in kubectl("get", "all").ok()
    assert kubectl("get", plural, "--field-selector=spec.image=cron", "-o", "name").ok() == f"crontab.{group}/a\n"
    assert kubectl("get", plural, "--field-selector=spec.image=other").err.startswith("No resources found")


def test_it_is_discovered_and_explained(kubectl: Kubectl, group: str) -> None:
    assert kubectl("api-resources", f"--api-group={group}", "--no-headers").ok().split() == [
        "crontabs", "ct", f"{group}/v1", "true", "CronTab",
    ]  # fmt: skip
    told = kubectl("explain", f"crontabs.{group}.spec").ok()
    assert re.search(r"^ +cronSpec\t<string> -required-$", told, re.MULTILINE), told
    assert "When it runs, as cron reads it." in told
    assert (
        kubectl("wait", f"crd/crontabs.{group}", "--for=condition=Established", "--timeout=5s").ok().endswith("met\n")
    )


def test_what_is_wrong_is_told_in_kubernetes_words(kubectl: Kubectl, group: str) -> None:
    kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
    plural = f"crontabs.{group}"
    unknown = kubectl("apply", "-f", "-", stdin=_cron_tab(group, "b", ", colour: red"))
    assert 'strict decoding error: unknown field "spec.colour"' in unknown.err
    for patch, wrong in (
        (
            '{"spec":{"replicas":"x"}}',
            'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer',
        ),
        ('{"spec":{"replicas":11}}', 'The CronTab "a" is invalid: spec.replicas: Invalid value: at most ten'),
        (
            '{"spec":{"cronSpec":"1 * * * *"}}',
            'The CronTab "a" is invalid: spec: Invalid value: cronSpec is imm',
        ),
        ('{"spec":{"cronSpec":null}}', "spec.cronSpec: Required value"),
    ):
        ran = kubectl("patch", plural, "a", "--type=merge", "-p", patch)
        assert (ran.code, wrong in ran.err) == (1, True), ran.err


def test_scale_and_status_are_apart(kubectl: Kubectl, group: str) -> None:
    kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
    plural = f"crontabs.{group}"
    assert kubectl("scale", plural, "a", "--replicas=4").ok() == f"crontab.{group}/a scaled\n"
    kubectl("patch", plural, "a", "--subresource=status", "--type=merge", "-p", '{"status":{"replicas":4}}').ok()
    scale = json.loads(kubectl("get", plural, "a", "--subresource=scale", "-o", "json").ok())
    assert (scale["kind"], scale["spec"], scale["status"]["replicas"]) == ("Scale", {"replicas": 4}, 4)


def test_a_namespace_and_an_owner_take_them_along(kubectl: Kubectl, home: Home, group: str) -> None:
    home.kubectl("create", "namespace", f"of-{group.partition('.')[0]}").ok()
    home.kubectl("apply", "-n", f"of-{group.partition('.')[0]}", "-f", "-", stdin=_cron_tab(group)).ok()
    kubectl("apply", "-f", "-", stdin=_cron_tab(group, "owner")).ok()
    uid = kubectl("get", f"crontabs.{group}", "owner", "-o", "jsonpath={.metadata.uid}").ok()
    owner = {"apiVersion": f"{group}/v1", "kind": "CronTab", "name": "owner", "uid": uid}
    owned = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned", "ownerReferences": [owner]}}
    kubectl("apply", "-f", "-", stdin=json.dumps(owned)).ok()
    kubectl("delete", f"crontabs.{group}", "owner").ok()
    kubectl("wait", "cm/owned", "--for=delete", "--timeout=10s").ok()
    home.kubectl("delete", "namespace", f"of-{group.partition('.')[0]}", "--timeout=30s").ok()
    assert home.kubectl("get", f"crontabs.{group}", "-A").err.startswith("No resources found")


def test_a_definition_goes_with_its_objects(kubectl: Kubectl, home: Home, group: str) -> None:
    kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
    home.kubectl("delete", "crd", f"crontabs.{group}", "--timeout=10s").ok()
    assert "the server doesn't have a resource type" in kubectl("get", f"crontabs.{group}").err


def test_api_services_are_listed_with_who_serves_them(kubectl: Kubectl, home: Home, group: str) -> None:
    remote = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.metrics.{group}"},
        "spec": {
            "group": f"metrics.{group}",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"namespace": "kube-system", "name": "metrics"},
        },
    }
    kubectl("apply", "-f", "-", stdin=json.dumps(remote)).ok()
    name = f"apiservice/v1.metrics.{group}"
    kubectl("wait", name, "--for=jsonpath={.status.conditions[0].reason}=ServiceNotFound", "--timeout=10s").ok()
    rows = {line.split()[0]: line.split()[1:-1] for line in kubectl("get", "apiservices").ok().splitlines()[1:]}
    assert rows["v1.apps"] == ["Local", "True"]
    assert rows[f"v1.{group}"] == ["Local", "True"]
    assert rows[f"v1.metrics.{group}"] == ["kube-system/metrics", "False", "(ServiceNotFound)"]
    home.kubectl("delete", name).ok()


def test_a_webhook_converts_between_versions(kubectl: Kubectl, home: Home, tmp_path: Path) -> None:
    group = f"g{next(_number)}.example.com"
    with ConversionWebhook(tmp_path) as webhook:
        kubectl("apply", "-f", "-", stdin=yaml.safe_dump(webhook.definition(group))).ok()
        made = {
            "apiVersion": f"{group}/v2",
            "kind": "Host",
            "metadata": {"name": "a"},
            "spec": {"host": "h", "port": "1"},
        }
        kubectl("apply", "-f", "-", stdin=json.dumps(made)).ok()
        assert kubectl("get", f"hosts.v1.{group}", "a", "-o", "jsonpath={.spec}").ok() == '{"hostPort":"h:1"}'
        assert kubectl("get", f"hosts.v2.{group}", "a", "-o", "jsonpath={.spec}").ok() == '{"host":"h","port":"1"}'
        kubectl("patch", f"hosts.v2.{group}", "a", "--type=merge", "-p", '{"spec":{"port":"2"}}').ok()
        assert kubectl("get", f"hosts.v1.{group}", "-o", "jsonpath={.items[*].spec.hostPort}").ok() == "h:2"
    refused = kubectl("patch", f"hosts.v2.{group}", "a", "--type=merge", "-p", '{"spec":{"port":"3"}}')
    assert f'Error from server: conversion webhook for {group}/v2, Kind=Host failed: Post "https://' in refused.err
    home.kubectl("delete", "crd", f"hosts.{group}", "--timeout=20s").ok()


CLIENTS = """
import sys
import kr8s
from kr8s.objects import new_class
from kubernetes import client, config, dynamic

group, namespace, kubeconfig = sys.argv[1:]
api = kr8s.api(kubeconfig=kubeconfig)
CronTab = new_class("CronTab", f"{group}/v1", namespaced=True)
made = CronTab({"metadata": {"name": "k", "namespace": namespace}, "spec": {"cronSpec": "* * * * *"}}, api=api)
made.create()
made.patch({"spec": {"replicas": 2}})
config.load_kube_config(kubeconfig)
with client.ApiClient() as connection:
    resource = dynamic.DynamicClient(connection).resources.get(api_version=f"{group}/v1", kind="CronTab")
    print([(each.metadata.name, each.spec.replicas) for each in resource.get(namespace=namespace).items])
    custom = client.CustomObjectsApi(connection)
    custom.patch_namespaced_custom_object(group, "v1", namespace, "crontabs", "k", {"spec": {"image": "x"}})
    print(custom.get_namespaced_custom_object(group, "v1", namespace, "crontabs", "k")["spec"]["image"])
made.delete()
"""


def test_python_clients_work_with_them(kubectl: Kubectl, home: Home, namespace: str, group: str) -> None:
    kubeconfig = str(home.folder().kubeconfig)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLIENTS, group, namespace, kubeconfig],
        capture_output=True,
        text=True,
        timeout=60,
        env=home.environment,
        check=False,
    )
    assert ran.stdout.splitlines() == ["[('k', 2)]", "x"], ran.stderr


OPERATOR = """
import kopf

@kopf.on.create(GROUP, "v1", "crontabs")
def created(spec, name, **_):
    return {"seen": spec["replicas"]}

@kopf.on.delete(GROUP, "v1", "crontabs")
def deleted(**_):
    pass
"""


def test_an_operator_written_with_kopf_runs(
    kubectl: Kubectl, home: Home, namespace: str, group: str, tmp_path: Path
) -> None:
    (tmp_path / "operator.py").write_text(OPERATOR.replace("GROUP", f'"{group}"'))
    environment = {**home.environment, "KUBECONFIG": str(home.folder().kubeconfig)}
    command = [sys.executable, "-m", "kopf", "run", "-n", namespace, "--standalone", str(tmp_path / "operator.py")]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, env=environment, stderr=log) as operator:
        try:
            kubectl("apply", "-f", "-", stdin=_cron_tab(group)).ok()
            plural = f"crontabs.{group}"
            ran = kubectl("wait", plural, "a", "--for=jsonpath={.status.created.seen}=1", "--timeout=20s")
            assert ran.code == 0, ran.err + (tmp_path / "log").read_text()
            finalizers = kubectl("get", plural, "a", "-o", "jsonpath={.metadata.finalizers[*]}").ok()
            assert finalizers == "kopf.zalando.org/KopfFinalizerMarker"
            kubectl("delete", plural, "a", "--timeout=20s").ok()
        finally:
            operator.terminate()
