"""What the Job controller makes of Jobs and Pods that are there when it starts, each Job in a namespace of its own."""

from __future__ import annotations

import re

from engine.api.types import NAMESPACES, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.job.controller import JOBS, JobController
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.controllers.job_rows import LONG_AGO, ROWS, Marks, Row

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
CODES = {"S": 0, "x": 3, "y": 5, "z": 7}
CONTAINER: Object = {"name": "c", "image": "busybox"}


def pod(number: int, marks: Marks, job: Object) -> tuple[Object, Object]:
    """A Pod as it is created, and its status."""
    found = re.fullmatch(r"(\d*)(\w)(\d*)", marks)
    assert found is not None, marks
    index, mark, failures = found.groups()
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "work", "uid": job["metadata"]["uid"], "controller": True}
    metadata: Object = {
        "name": f"given-{number}",
        "labels": job["spec"]["selector"]["matchLabels"],
        "ownerReferences": [owner],
        "finalizers": [] if mark == "f" else [FINALIZER],
        "annotations": {**({INDEX: index} if index else {}), **({INDEX_FAILURES: failures} if failures else {})},
    }
    status: Object = {"phase": {"P": "Pending", "S": "Succeeded"}.get(mark, "Running" if mark in "ART" else "Failed")}
    status["conditions"] = {
        "R": [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}],
        "D": [{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": LONG_AGO}],
        "L": [{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": LONG_AGO}],
    }.get(mark, [])
    if status["phase"] in ("Succeeded", "Failed") and mark != "L":
        terminated = {"exitCode": CODES.get(mark, 1), "finishedAt": LONG_AGO}
        state = {"name": "c", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0}
        status["containerStatuses"] = [{**state, "state": {"terminated": terminated}}]
    spec = {"nodeName": "node-1", "restartPolicy": "Never", "containers": [CONTAINER]}
    return {"metadata": metadata, "spec": spec}, status


async def make(admin: Client, namespace: str, row: Row) -> None:
    await admin.create(NAMESPACES, {"metadata": {"name": namespace}})
    await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace=namespace)
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}, **row.spec}
    job = await admin.create(JOBS, {"metadata": {"name": "work"}, "spec": spec}, namespace=namespace)
    uids = []
    for number, marks in enumerate(row.pods):
        made, status = pod(number, marks, job)
        uids.append((await admin.create(PODS, made, namespace=namespace))["metadata"]["uid"])
        name = made["metadata"]["name"]
        await admin.patch(PODS, name, {"status": status}, namespace=namespace, subresource="status")
        if "T" in marks or "L" in marks:
            await admin.delete(PODS, name, namespace=namespace)
    if row.status:
        status = {name: value for name, value in row.status.items() if name != "uncounted"}
        if "uncounted" in row.status:
            status["uncountedTerminatedPods"] = {"failed": [uids[number] for number in row.status["uncounted"]]}
        await admin.patch(JOBS, "work", {"status": status}, namespace=namespace, subresource="status")
    if row.now:
        await admin.patch(JOBS, "work", {"spec": row.now}, namespace=namespace)
    if row.deleting:
        await admin.delete(JOBS, "work", namespace=namespace, propagation_policy="Foreground")


async def outcome(cluster: TestCluster, namespace: str, row: Row) -> Object:
    """What became of it: the status as the row tells it, and how many Pods came and went."""
    status = (await cluster.admin.get(JOBS, "work", namespace=namespace)).get("status") or {}
    pods = {each["metadata"]["name"]: each["metadata"] for each in await cluster.objects(PODS, namespace=namespace)}
    given = {f"given-{number}" for number, marks in enumerate(row.pods) if not {"T", "L"} & set(marks)}
    empty = {"completedIndexes": "", "failedIndexes": None}
    return {
        **{name: status.get(name, empty.get(name, 0)) for name in row.want},
        "conditions": [
            f"{each['type']}{'' if each['status'] == 'True' else '=' + each['status']} {each['reason']}"
            for each in status.get("conditions") or ()
        ],
        "created": sum(not name.startswith("given-") for name in pods),
        "deleted": sum("deletionTimestamp" in pods.get(name, {"deletionTimestamp": ""}) for name in given),
    }


async def test_what_is_made_of_what_is_found(world: World) -> None:
    namespaces = {f"row-{number}": name for number, name in enumerate(ROWS)}

    async def given(admin: Client) -> None:
        for namespace, name in namespaces.items():
            await make(admin, namespace, ROWS[name])

    async with running(world, controllers=(JobController,), given=given) as cluster:
        await world.clock.sleep(5)
        found = {name: await outcome(cluster, namespace, ROWS[name]) for namespace, name in namespaces.items()}
    wanted = {
        name: {**row.want, "conditions": row.conditions, "created": row.created, "deleted": row.deleted}
        for name, row in ROWS.items()
    }
    assert {name: found[name] for name in ROWS if found[name] != wanted[name]} == {
        name: wanted[name] for name in ROWS if found[name] != wanted[name]
    }
