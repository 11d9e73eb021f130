"""What `rollout history -o` shows of the workloads whose revisions are ControllerRevisions, beside the real kubectl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.api.types import GVR, Object
from tests.kubectl.oracle import ours, real
from tests.kubectl.parity import normal
from tests.kubectl.served import served

LABELS = {"app": "web"}
CLAIM = {
    "metadata": {"name": "d"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}}},
}
WORKLOADS: dict[str, dict[str, Any]] = {
    "StatefulSet": {"serviceName": "web", "volumeClaimTemplates": [CLAIM]},
    "DaemonSet": {"updateStrategy": {"type": "OnDelete"}},
}


def template(image: str) -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": image}]}}


def revision(owner: Object, number: int) -> Object:
    meta = owner["metadata"]
    controller = {"apiVersion": "apps/v1", "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {
        "metadata": {
            "name": f"{owner['kind'].lower()}-{number}",
            "labels": LABELS,
            "ownerReferences": [{**controller, "controller": True}],
        },
        "revision": number,
        "data": {"spec": {"template": {**template(f"i:{number}"), "$patch": "replace"}}},
    }


async def test_a_revision_is_the_workload_as_it_was(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        for kind, spec in WORKLOADS.items():
            resource = GVR("apps", "v1", f"{kind.lower()}s")
            made: Object = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}}
            made["spec"] = {"selector": {"matchLabels": LABELS}, "template": template("i:2"), **spec}
            owner = await server.client.create(resource, made, namespace="default")
            for number in (2, 1):
                revisions = GVR("apps", "v1", "controllerrevisions")
                await server.client.create(revisions, revision(owner, number), namespace="default")

            for flags in ("-o yaml", "-o json --revision=1", "-o name", "-o jsonpath={.kind}", "--revision=1"):
                argv = f"rollout history {kind}/web {flags}"
                theirs = await real(argv, kubeconfig=server.kubeconfig)
                mine = await ours(argv, kubeconfig=server.kubeconfig, clock=server.world.clock)
                assert normal(mine.stdout) == normal(theirs.stdout), argv
                assert mine._replace(stdout="") == theirs._replace(stdout=""), argv
