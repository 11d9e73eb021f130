"""The Pod and the container that a command means when it names a workload, or a Pod and nothing more.

Source of the behaviour: kubectl pkg/polymorphichelpers (attachablepodforobject.go, helpers.go) and
pkg/cmd/util/podcmd/podcmd.go.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.selectors import LabelSelector, format_labels
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.fetching import live
from engine.kubectl.scheme import SCHEME, check_registered
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import watch_objects

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_PHASES = {"Unknown": 1, "Pending": 2}  # all others first
_NEVER = "~"  # after every time
PodOrder = tuple[bool, int, bool, str, int, str]


async def pod_of(session: Session, word: str, name: str, *, scheme: str = SCHEME) -> Object:
    """The Pod of that name, or one of a workload's: first those that run and are ready; where there is none, the first
    that comes within --pod-running-timeout. Raises CommandError."""
    resource = await session.resolve(word)
    obj = await live(session, resource, name, session.namespace)
    check_registered(resource.gvk, scheme=scheme)
    session.working_on(resource, name, session.namespace)
    if obj["kind"] == "Pod":
        return obj
    return min(await pods_of(session, selector_of(obj, doing="attach to")), key=by_activity)


async def pods_of(session: Session, selector: str) -> list[Object]:
    """The Pods that a selector finds, or, where there are none yet, the first that comes (GetFirstPod). Raises
    CommandError when none has come within --pod-running-timeout."""
    pods = await session.resolve("pods")
    body = await session.request("GET", session.path_of(pods, session.namespace), query={"labelSelector": selector})
    if found := body.get("items"):
        return [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in found]
    version = str((body.get("metadata") or {}).get("resourceVersion", ""))
    try:
        async with session.clock.timeout(session.flags.seconds("pod-running-timeout")):
            async for kind, pod in watch_objects(
                session, pods, session.namespace, version=version, labelSelector=selector
            ):
                if kind != "DELETED":
                    return [pod]
    except TimeoutError as error:
        raise CommandError("timed out waiting for the condition") from error
    raise AssertionError("a watch goes on for ever")


def selector_of(obj: Object, *, doing: str) -> str:
    """What finds the Pods of a workload. Raises CommandError, which says what could not be done for want of it."""
    selector = (obj.get("spec") or {}).get("selector")
    kind = f"*{obj['apiVersion'].rpartition('/')[2]}.{obj['kind']}"
    if obj["kind"] == "Service" and not selector:
        name = obj["metadata"]["name"]
        raise CommandError(f"cannot {doing} {kind}: invalid service '{name}': Service is defined without a selector")
    if obj["kind"] in ("Service", "ReplicationController"):
        return format_labels(selector)
    if not selector:
        raise CommandError(f"cannot {doing} {kind}: selector for {kind} not implemented")
    return str(LabelSelector.from_object(selector))


def by_logging(pod: Object) -> PodOrder:
    """The Pod whose logs are meant comes first: assigned, running, ready, for the longest time, restarted most often,
    the oldest (podutils.ByLogging)."""
    return _order(pod, -_restarts(pod))


def by_activity(pod: Object) -> PodOrder:
    """The Pod that is meant by all else comes first: as `by_logging`, but restarted least often (podutils.ActivePods,
    turned around)."""
    return _order(pod, _restarts(pod))


def _order(pod: Object, restarts: int) -> PodOrder:
    status = pod.get("status") or {}
    ready = [c for c in status.get("conditions") or () if (c["type"], c["status"]) == ("Ready", "True")]
    return (
        not pod["spec"].get("nodeName"),
        _PHASES.get(status.get("phase", ""), 0),
        not ready,
        (ready[0].get("lastTransitionTime") or _NEVER) if ready else "",
        restarts,
        pod["metadata"].get("creationTimestamp") or _NEVER,
    )


def _restarts(pod: Object) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((status.get("restartCount", 0) for status in statuses), default=0)


def _names(pod: Object) -> list[str]:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [container["name"] for kind in kinds for container in pod["spec"].get(kind) or ()]


def _listed(pod: Object) -> str:
    """All containers by name; what is none of the usual ones says so."""
    spec = pod["spec"]
    odd = {c["name"]: "init" for c in spec.get("initContainers") or ()}
    odd |= {c["name"]: "ephem" for c in spec.get("ephemeralContainers") or ()}
    return ", ".join(f"{name} ({odd[name]})" if name in odd else name for name in _names(pod))


def require_container(pod: Object, name: str) -> None:
    """Raises CommandError for a container that the Pod does not have."""
    if name not in _names(pod):
        valid = f"{pod['metadata']['name']} out of: {_listed(pod)}"
        raise CommandError(f"container {name} is not valid for pod {valid}")


def container_of(session: Session, pod: Object, *, tell: Callable[[str], None] | None = None) -> str:
    """The container of `-c`, else the annotated one, else the first, of which it tells. Raises CommandError."""
    names = _names(pod)
    if chosen := session.flags.text("container"):
        require_container(pod, chosen)
        return chosen
    annotated = (pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER, "")
    default: str = annotated if annotated in names else names[0]
    if len(names) > 1 and annotated != default and not ("quiet" in session.flags and session.flags.on("quiet")):
        (tell or session.err)(f'Defaulted container "{default}" out of: {_listed(pod)}')
    return default
