"""pods/NAME/binding: the scheduler's decision, written into the Pod (pkg/registry/core/pod/storage, BindingREST)."""

from __future__ import annotations

from engine.api.errors import ApiError, bad_request, conflict, joined
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, GVR, PODS, Object, copy_object
from engine.api.validation import Problems, text
from engine.api.validation.core import binding as check_target
from engine.apiserver.actions.admitted import admit_create, owned
from engine.apiserver.actions.pod_conditions import set_condition
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.body import decode_value
from engine.apiserver.registry.body_syntax import object_value
from engine.apiserver.registry.metadata import uid_mismatch, version_mismatch
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.update import Updater

BINDING = GVK("", "v1", "Binding")
_BINDINGS = GVR("", "v1", "pods/binding")
_CLEARS_NOMINATION = (1, 35)  # a bound Pod is nominated no more (ClearingNominatedNodeNameAfterBinding)
_NAMES_CHECKED = (1, 37)  # a Pod is bound to nothing that cannot be the name of a node
SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


class BindingAction:
    def __init__(self, backend: Backend, updater: Updater) -> None:
        self._backend = backend
        self._updater = updater

    async def post(self, call: Call, options: WriteOptions) -> Object:
        """Raises ApiError 409 for a Pod that is bound already or is being deleted, 400 for a Binding of another Pod.

        One that is invalid gets a 500, as of upstream's server.
        """
        value = object_value(self._backend.definitions, call.request, BINDING)
        binding = decode_value(call, self._backend.definitions, BINDING, value=value, validation=options.validation)
        binding = owned(self._backend, call, BINDING, binding, options, keeps_uid=True)
        name = call.info.name
        release = self._backend.definitions.release
        await admit_create(self._backend, call, binding, options, check=lambda obj: _check(name, obj, release))
        node = binding["target"]["name"]

        def assign(old: Object) -> Object:
            if why := _unmet(call.gvr_resource, old["metadata"], binding["metadata"]):
                raise conflict(PODS, name, why)
            if refusal := _refusal(name, old):
                raise refusal
            pod = copy_object(old)
            pod["spec"]["nodeName"] = node
            for field in ("annotations", "labels"):
                if added := binding["metadata"].get(field):
                    pod["metadata"].setdefault(field, {}).update(added)
            _scheduled(pod, self._backend.world.clock.timestamp())
            if release >= _CLEARS_NOMINATION:
                pod["status"].pop("nominatedNodeName", None)
            pod["metadata"]["resourceVersion"] = ""
            return pod

        await self._updater.update(call, options, assign, tracked=True, rules=lambda new, old: [], admitted=True)
        return SUCCESS


def _check(name: str, binding: Object, release: tuple[int, int]) -> None:
    if name != binding["metadata"].get("name", ""):
        raise bad_request("name in URL does not match name in Binding object")
    problems = Problems()
    check_target(binding, problems)
    node = binding.get("target", {}).get("name", "")
    if node and release >= _NAMES_CHECKED:
        problems.all_invalid("target.name", node, text.dns_subdomain(node))
    if problems:
        raise ApiError(500, "", joined(problems))


def _unmet(info: ResourceInfo, kept: Object, asked: Object) -> str:
    """What the Binding says of the Pod and is not so; "" for nothing."""
    if (uid := asked.get("uid")) and uid != kept["uid"]:
        return uid_mismatch(info, kept, uid)
    if (version := asked.get("resourceVersion")) and version != kept["resourceVersion"]:
        return version_mismatch(info, kept, version)
    return ""


def _refusal(name: str, pod: Object) -> ApiError | None:
    spec, kept = pod["spec"], pod["metadata"]
    if "deletionTimestamp" in kept:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        return None
    return conflict(_BINDINGS, name, why)


def _scheduled(pod: Object, now: str) -> None:
    set_condition(pod, {"type": "PodScheduled", "status": "True", "lastProbeTime": None}, now)
