"""The real Helm installs, tests, upgrades, rolls back and takes away a chart with hooks and a definition."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.conftest import Kubectl
from tests.engine_process import TIMEOUT, Home, Ran

CHART = Path(__file__).parent / "chart"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
Helm = Callable[..., Ran]

pytestmark = pytest.mark.skipif(HELM is None, reason="there is no Helm here")


@pytest.fixture
def helm(home: Home, namespace: str) -> Helm:
    """Helm, working in the test's namespace."""

    def run(*words: str) -> Ran:
        environment = {**home.environment, "KUBECONFIG": str(home.folder().kubeconfig), "HELM_NAMESPACE": namespace}
        done = subprocess.run(
            [str(HELM), *words], env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        return Ran(done.stdout, done.stderr, done.returncode)

    return run


def test_a_chart_is_installed_tested_and_taken_away(helm: Helm, kubectl: Kubectl) -> None:
    installed = helm("install", "shop", str(CHART), "--wait", "--timeout=40s").ok()
    assert "STATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete" in installed
    facts = json.loads(kubectl("get", "configmap", "shop-facts", "-o", "jsonpath={.data}").ok())
    assert facts == {"kubernetes": "v1.37.0", "autoscaling": "true", "phase": "Active"}
    owners = kubectl(
        "get", "configmap", "shop-facts", "-o", "jsonpath={.metadata.managedFields[*]['manager','operation']}"
    )
    assert owners.ok() == "helm Apply"
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.status.availableReplicas}").ok() == "2"
    assert kubectl("get", "orders", "-o", "name").ok() == "order.shop.example.com/shop-first\n"
    assert kubectl("get", "jobs", "-o", "name").ok() == ""  # the hook has succeeded and is gone

    tested = helm("test", "shop", "--logs").ok()
    assert "Phase:          Succeeded" in tested
    assert "Welcome to nginx" in tested.partition("POD LOGS: shop-visit")[2]

    assert helm("uninstall", "shop", "--wait").ok() == 'release "shop" uninstalled\n'
    assert kubectl("get", "deployments,replicasets,services,orders", "-o", "name").ok() == ""
    assert kubectl("get", "secrets", "-o", "name").ok() == ""


def test_an_upgrade_that_does_not_come_up_is_rolled_back(helm: Helm, kubectl: Kubectl) -> None:
    helm("install", "shop", str(CHART), "--wait", "--timeout=40s").ok()
    helm("upgrade", "shop", str(CHART), "--set=replicas=3", "--wait", "--timeout=40s").ok()
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.spec.replicas}").ok() == "3"
    failed = helm("upgrade", "shop", str(CHART), "--set=image=nginx:missing", "--wait", "--timeout=1s")
    assert failed.code == 1
    assert "UPGRADE FAILED" in failed.err
    assert "Deployment" in failed.err
    assert "not ready" in failed.err
    assert helm("rollback", "shop", "1", "--wait", "--timeout=40s").ok() == "Rollback was a success! Happy Helming!\n"
    history = json.loads(helm("history", "shop", "-o", "json").ok())
    assert [each["status"] for each in history] == ["superseded", "superseded", "failed", "deployed"]
    wanted = "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"
    assert kubectl("get", "deployment", "shop", "-o", wanted).ok() == "2 nginx:1.27"


def test_what_others_made_is_not_taken_over(helm: Helm, kubectl: Kubectl) -> None:
    kubectl("create", "service", "clusterip", "shop", "--tcp=80").ok()
    refused = helm("install", "shop", str(CHART))
    assert refused.code == 1
    assert 'Service "shop" in namespace' in refused.err
    assert "exists and cannot be imported into the current release: invalid ownership metadata" in refused.err
