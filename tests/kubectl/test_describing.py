"""Objects that another server keeps, as `describe` shows them: what ours would have completed or refused is left out.

The words are those of kubectl 1.37.1 on the same objects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.api.types import Object
from engine.api.wire import Handler, Request, Response
from engine.client import Client, InProcessTransport
from tests.kubectl.oracle import ours
from tests.kubectl.served import ADMIN, served


class Another:
    """A server that keeps a few objects as they are, and knows all else from ours."""

    def __init__(self, behind: Handler, *objects: Object) -> None:
        self._behind = behind
        self._objects = {_path(obj): obj for obj in objects}

    async def handle(self, request: Request) -> Response:
        if request.path in self._objects:
            return Response(200, self._objects[request.path])
        within = [obj for path, obj in self._objects.items() if path.rsplit("/", 1)[0] == request.path]
        if within:
            return Response(200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": within})
        return await self._behind.handle(request)


def _path(obj: Object) -> str:
    version, namespace = obj["apiVersion"], obj["metadata"].get("namespace")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    within = f"/namespaces/{namespace}" if namespace else ""
    kind = obj["kind"].lower()
    return f"{root}{within}/{kind}{'es' if kind.endswith('s') else 's'}/{obj['metadata']['name']}"


def made(version: str, kind: str, spec: Object | None = None, *, name: str = "web", **fields: Any) -> Object:
    metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields, **({"spec": spec} if spec else {})}


def container(**fields: Any) -> Object:
    return made("v1", "Pod", {"containers": [{"name": "c", "image": "i", **fields}]})


TEMPLATE = (
    "Pod Template:\n  Labels:  <none>\n  Containers: <none>\n"
    "  Volumes:         <none>\n  Node-Selectors:  <none>\n  Tolerations:     <none>\n"
)
SOURCES = [
    {"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "f", "valueFrom": {}},
    {"name": "h", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}},
]
SHOWN: dict[str, tuple[list[Object], str]] = {
    "a scheduling group": (
        [made("v1", "Pod", {"schedulingGroup": {"podGroupName": "pg"}})],
        "SchedulingGroup:\n  PodGroupName:  pg\n",
    ),
    "a Service that asks for nothing": ([made("v1", "Service")], "IP Families:       <none>\n"),
    "variables from nowhere": (
        [container(envFrom=[{"secretRef": {"name": "s"}}, {"prefix": "q"}])],
        "      s           Secret            Optional: false\n                   with prefix 'q'  Optional: false\n",
    ),
    "a port without protocol": ([container(ports=[{"containerPort": 80}])], "    Port:         80/\n"),
    "variables of other sources": (
        [container(env=SOURCES)],
        "    Environment:\n      a:         web (:metadata.name)\n    Mounts:",
    ),
    "what a Pod asks for as a whole is what counts": (
        [made("v1", "Pod", {"containers": [{"name": "c"}], "resources": {"requests": {"cpu": "1"}}})],
        "QoS Class:        Burstable\n",
    ),
    "limits without requests guarantee nothing": (
        [container(resources={"limits": {"cpu": "1", "memory": "1Gi"}})],
        "QoS Class:        Burstable\n",
    ),
    "a claim that a Pod owns": (
        [
            made(
                "v1", "PersistentVolumeClaim", metadata={"ownerReferences": [{"kind": "Pod", "name": "p", "uid": "u"}]}
            ),
            made("v1", "Pod", name="p", metadata={"uid": "u"}),
            made("v1", "Pod", name="q", metadata={"uid": "v"}),
        ],
        "Used By:       p\n",
    ),
    "a claim in an access mode that is none": (
        [made("v1", "PersistentVolumeClaim", {"volumeName": "v"}, status={"accessModes": ["ReadOnlyMany", "X"]})],
        "Access Modes:  ROX\n",
    ),
    "a ReplicaSet without template": ([made("apps/v1", "ReplicaSet", {"replicas": 1})], TEMPLATE),
    "a StatefulSet without template": ([made("apps/v1", "StatefulSet", {"replicas": 1})], TEMPLATE),
    "a DaemonSet without template": ([made("apps/v1", "DaemonSet", {"minReadySeconds": 1})], TEMPLATE),
    "a Deployment without template": ([made("apps/v1", "Deployment", {"replicas": 1})], TEMPLATE),
    "a StatefulSet that says nothing of its Pods' order": (
        [made("apps/v1", "StatefulSet", {"replicas": 1})],
        "Annotations:        <none>\nReplicas:           1 desired | 0 total\n",
    ),
    "what a DaemonSet wants of nodes stands in one line": (
        [made("apps/v1", "DaemonSet", {"template": {"spec": {"nodeSelector": {"c": "d", "a": "b"}}}})],
        "Node-Selector:  a=b,c=d\n",
    ),
    "the scheduling group of a template": (
        [made("apps/v1", "Deployment", {"template": {"spec": {"schedulingGroup": {"podGroupName": "pg"}}}})],
        "  Tolerations:     <none>\n  SchedulingGroup:\n  PodGroupName:  pg\n",
    ),
    "a rolling update that says nothing": (
        [made("apps/v1", "Deployment", {"strategy": {"rollingUpdate": {}}})],
        "RollingUpdateStrategy:  <nil> max unavailable, <nil> max surge\n",
    ),
    "a policy for claims that says nothing": (
        [made("apps/v1", "StatefulSet", {"persistentVolumeClaimRetentionPolicy": {}})],
        "Persistent Volume Claim Retention Policy:\n  WhenDeleted:  \n  WhenScaled:   \n",
    ),
    "a condition without a type": (
        [made("apps/v1", "ReplicaSet", {"replicas": 1}, status={"conditions": [{"reason": "Foo"}]})],
        "Conditions:\n  Type   Status  Reason\n  ----   ------  ------\n                 Foo\n",
    ),
    "a ReplicationController without selector is for all Pods that it owns": (
        [made("v1", "ReplicationController", {"replicas": 1})],
        "Selector:     <none>\n",
    ),
    "the class of a claim to be, which its annotation decides": (
        [
            made(
                "apps/v1",
                "StatefulSet",
                {
                    "volumeClaimTemplates": [
                        {
                            "metadata": {
                                "name": "data",
                                "annotations": {"volume.beta.kubernetes.io/storage-class": "slow"},
                            },
                            "spec": {"storageClassName": "fast"},
                        }
                    ]
                },
            )
        ],
        "  Name:          data\n  StorageClass:  slow\n",
    ),
    "a metric of an object is told as its type says": (
        [
            made(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                {"metrics": [{"type": "Object", "object": {"metric": {"name": "m"}, "target": {"averageValue": "1"}}}]},
            )
        ],
        '  "m" on / (target value):  <unknown> / <nil>\n',
    ),
    "a secret without a name": ([made("v1", "ServiceAccount", imagePullSecrets=[{}])], "Image pull secrets:  \n"),
    "addresses in order": (
        [
            made(
                "networking.k8s.io/v1",
                "Ingress",
                {"rules": []},
                status={"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}, {"hostname": "a.b"}, {"ip": "1.1.1.1"}]}},
            )
        ],
        "Address:          1.1.1.1,9.9.9.9,a.b\n",
    ),
    "a backend that is nothing": (
        [made("networking.k8s.io/v1", "Ingress", {"defaultBackend": {}})],
        "Default backend:  \n",
    ),
    "rules for URLs are told verb by verb": (
        [
            made(
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                rules=[{"nonResourceURLs": ["/b"], "verbs": ["get", "put"]}, {"resources": ["pods"], "verbs": ["get"]}],
                metadata={"namespace": ""},
            )
        ],
        "-----\n             [/b]               []              [get]\n"
        "             [/b]               []              [put]\n",
    ),
    "a metric's name in quotes": (
        [
            made(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                {"metrics": [{"type": "External", "external": {"metric": {"name": 'a"b'}, "target": {}}}]},
            )
        ],
        '  "a\\"b" (target value):  <unknown> / <nil>\n',
    ),
    "a path within a volume in quotes": (
        [container(volumeMounts=[{"name": "v", "mountPath": "/v", "subPath": 'a"b'}])],
        '      /v from v (rw,path="a\\"b")\n',
    ),
    "a resource that containers have not": (
        [container(env=[{"name": "a", "valueFrom": {"resourceFieldRef": {"resource": "cpu"}}}])],
        "      a:          (cpu)\n",
    ),
    "a Service's port without protocol": (
        [made("v1", "Service", {"ports": [{"port": 80, "appProtocol": ""}]})],
        "Port:              <unset>  80/\nTargetPort:        0/\nAppProtocol:       \n",
    ),
    "lists within lists": (
        [made("v1", "PodTemplate", template={"lists": [1, "a", [2, 3]]})],
        "  Lists:\n    1\n    a\n    [2 3]\n",
    ),
}


async def test_what_another_server_keeps_is_shown_as_it_is(tmp_path: Path) -> None:
    different = {}
    async with served(tmp_path) as server:
        for case, (objects, expected) in SHOWN.items():
            client = Client(InProcessTransport(Another(server.server, *objects), ADMIN), user_agent="kubectl/test")
            shown = await ours(f"describe {objects[0]['kind']} web", client=client)
            if shown.code or shown.stderr or expected not in shown.stdout:
                different[case] = shown
    assert not different, "\n".join(f"{case}: {shown.stdout}{shown.stderr}" for case, shown in different.items())
