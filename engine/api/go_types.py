"""What Go makes of a field: its type, as error texts name it (see also `go_fields`), and whether a zero value is kept.

A zero value in a field that is no pointer (`omitempty`) is gone after one round trip through a Go struct.
"""

from __future__ import annotations

from engine.api.schema import Schema

_INTEGERS = {"int32": "int32", "int64": "int64", "": "int64"}
_NUMBERS = {"double": "float64", "": "float64"}

# Fields that are plain values with `omitempty` in Go: their zero value does not survive. What is not named here is kept
# as it is given, since to drop a `false` or "" that means something (a pointer's) would change the object.
ZERO_DROPPED = frozenset(
    {
        ("ObjectMeta", "namespace"),
        ("ObjectMeta", "generateName"),
        ("ObjectMeta", "resourceVersion"),
        ("ObjectMeta", "uid"),
        ("ObjectMeta", "selfLink"),
        ("ObjectMeta", "generation"),
        ("PodSpec", "hostNetwork"),
        ("PodSpec", "hostPID"),
        ("PodSpec", "hostIPC"),
        ("PodSpec", "nodeName"),
        ("PodSpec", "hostname"),
        ("PodSpec", "subdomain"),
        ("PodSpec", "serviceAccountName"),
        ("PodSpec", "serviceAccount"),
        ("PodSpec", "priorityClassName"),
        ("PodSpec", "restartPolicy"),
        ("PodSpec", "dnsPolicy"),
        ("PodSpec", "schedulerName"),
        ("Container", "image"),
        ("Container", "workingDir"),
        ("Container", "stdin"),
        ("Container", "stdinOnce"),
        ("Container", "tty"),
        ("Container", "imagePullPolicy"),
        ("Container", "terminationMessagePath"),
        ("Container", "terminationMessagePolicy"),
        ("ContainerPort", "hostPort"),
        ("ContainerPort", "name"),
        ("ContainerPort", "hostIP"),
        ("ContainerPort", "protocol"),
        ("EnvVar", "value"),
        ("VolumeMount", "readOnly"),
        ("VolumeMount", "subPath"),
        ("VolumeMount", "subPathExpr"),
        ("Probe", "initialDelaySeconds"),
        ("Probe", "timeoutSeconds"),
        ("Probe", "periodSeconds"),
        ("Probe", "successThreshold"),
        ("Probe", "failureThreshold"),
        ("EmptyDirVolumeSource", "medium"),
        ("PersistentVolumeClaimVolumeSource", "readOnly"),
        ("Toleration", "key"),
        ("Toleration", "value"),
        ("Toleration", "effect"),
        ("Toleration", "operator"),
        ("Taint", "value"),
        ("NodeSpec", "unschedulable"),
        ("NodeSpec", "podCIDR"),
        ("NodeSpec", "providerID"),
        ("DeploymentSpec", "minReadySeconds"),
        ("DeploymentSpec", "paused"),
        ("DeploymentStatus", "observedGeneration"),
        ("DeploymentStatus", "replicas"),
        ("DeploymentStatus", "updatedReplicas"),
        ("DeploymentStatus", "readyReplicas"),
        ("DeploymentStatus", "availableReplicas"),
        ("DeploymentStatus", "unavailableReplicas"),
        ("ReplicaSetSpec", "minReadySeconds"),
        ("ReplicaSetStatus", "observedGeneration"),
        ("ReplicaSetStatus", "fullyLabeledReplicas"),
        ("ReplicaSetStatus", "readyReplicas"),
        ("ReplicaSetStatus", "availableReplicas"),
        ("StatefulSetSpec", "minReadySeconds"),
        ("StatefulSetStatus", "readyReplicas"),
        ("StatefulSetStatus", "currentReplicas"),
        ("StatefulSetStatus", "updatedReplicas"),
        ("DaemonSetSpec", "minReadySeconds"),
        ("DaemonSetStatus", "updatedNumberScheduled"),
        ("DaemonSetStatus", "numberAvailable"),
        ("DaemonSetStatus", "numberUnavailable"),
        ("JobStatus", "active"),
        ("JobStatus", "succeeded"),
        ("JobStatus", "failed"),
        ("ServiceSpec", "clusterIP"),
        ("ServiceSpec", "type"),
        ("ServiceSpec", "sessionAffinity"),
        ("ServiceSpec", "loadBalancerIP"),
        ("ServiceSpec", "externalName"),
        ("ServiceSpec", "externalTrafficPolicy"),
        ("ServiceSpec", "healthCheckNodePort"),
        ("ServiceSpec", "publishNotReadyAddresses"),
        ("ServicePort", "name"),
        ("ServicePort", "nodePort"),
        ("ServicePort", "protocol"),
        ("Secret", "type"),
        ("Event", "count"),
        ("Event", "action"),
        ("EventSource", "component"),
        ("EventSource", "host"),
        ("PersistentVolumeClaimSpec", "volumeName"),
        ("PersistentVolumeSpec", "storageClassName"),
        ("PriorityClass", "globalDefault"),
        ("PriorityClass", "description"),
        ("CronJobSpec", "concurrencyPolicy"),
    }
)


def short_name(definition: str) -> str:
    """The last part of a definition's name: `DeploymentSpec`."""
    return definition.rpartition(".")[2]


def go_type(schema: Schema) -> str:
    """The Go type of a value, as reflect names it: `v1.PodSpec`, `[]v1.Container`, `map[string]string`, `int32`."""
    if schema.quantity:
        return "resource.Quantity"
    if schema.int_or_string:
        return "intstr.IntOrString"
    if schema.type == "array":
        return f"[]{go_type(schema.items) if schema.items else 'interface {}'}"
    if schema.type == "object" and schema.values is not None and not schema.properties:
        return _map_type(schema)
    if schema.definition:
        return ".".join(schema.definition.rsplit(".", 2)[-2:])
    return _plain_type(schema)


def _map_type(schema: Schema) -> str:
    assert schema.values is not None
    if schema.values.quantity:
        return "v1.ResourceList"
    return f"map[string]{go_type(schema.values)}"


def _plain_type(schema: Schema) -> str:
    match schema.type:
        case "integer":
            return _INTEGERS.get(schema.format, "int64")
        case "number":
            return _NUMBERS.get(schema.format, "float64")
        case "boolean":
            return "bool"
        case "string" if schema.format == "byte":
            return "[]uint8"
        case "string":
            return "string"
    return "interface {}"
