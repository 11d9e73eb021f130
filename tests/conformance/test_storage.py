"""Volumes, quotas and the rest of what controllers do by themselves, with the real kubectl."""

from __future__ import annotations

from tests.conformance.conftest import Kubectl

SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: c
        image: busybox:1.36
        command: [sh, -c, "echo start >> /data/log; while true; do sleep 60; done"]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


def test_a_stateful_set_keeps_its_files(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SET).ok()
    kubectl("rollout", "status", "statefulset/db", "--timeout=60s").ok()
    [row] = kubectl("get", "pvc", "--no-headers").ok().splitlines()
    assert row.split()[:2] == ["data-db-0", "Bound"]
    assert row.split()[3:6] == ["1Gi", "RWO", "standard"]
    kubectl("delete", "pod", "db-0", "--wait=true").ok()
    kubectl("wait", "--for=create", "pod/db-0", "--timeout=60s").ok()
    kubectl("wait", "--for=condition=Ready", "pod/db-0", "--timeout=60s").ok()
    assert kubectl("exec", "db-0", "--", "cat", "/data/log").ok() == "start\nstart\n"


def test_every_namespace_has_the_ca(kubectl: Kubectl) -> None:
    kubectl("wait", "--for=create", "configmap/kube-root-ca.crt", "--timeout=30s").ok()
    assert kubectl("get", "configmap", "kube-root-ca.crt", "-o", r"jsonpath={.data.ca\.crt}").ok().startswith(
        "-----BEGIN CERTIFICATE-----"
    )  # fmt: skip


def test_a_quota_is_told_in_kubectls_words(kubectl: Kubectl) -> None:
    kubectl("create", "quota", "few", "--hard=count/deployments.apps=1").ok()
    kubectl("wait", r"--for=jsonpath={.status.used.count/deployments\.apps}=0", "quota/few", "--timeout=30s").ok()
    kubectl("create", "deployment", "one", "--image=nginx:1.27").ok()
    assert kubectl("create", "deployment", "two", "--image=nginx:1.27").err == (
        'error: failed to create deployment: deployments.apps "two" is forbidden: exceeded quota: few, requested: '
        "count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1\n"
    )
