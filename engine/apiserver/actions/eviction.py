"""pods/NAME/eviction: a delete that PodDisruptionBudgets may refuse (pkg/registry/core/pod/storage/eviction.go)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.api.errors import ApiError, bad_request, conflict, field_invalid, forbidden, invalid
from engine.api.selectors import LabelSelector
from engine.api.types import GVK, GVR, PODS, Object, copy_object
from engine.apiserver.actions.admitted import admit_create, owned
from engine.apiserver.actions.binding import SUCCESS
from engine.apiserver.actions.pod_conditions import set_condition
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call, describe
from engine.apiserver.registry.body import decode_value
from engine.apiserver.registry.body_syntax import object_value
from engine.apiserver.registry.delete import Deleter
from engine.apiserver.registry.delete_options import UNSAFE
from engine.apiserver.registry.options import WriteOptions
from engine.apiserver.registry.update import Updater

EVICTION = GVK("policy", "v1", "Eviction")
BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
_SINGULAR = BUDGETS._replace(resource="poddisruptionbudget")  # as upstream's texts name it
_POD = PODS._replace(resource="Pod")  # as it stands in the conflicts of evictions, and nowhere else
_EVICTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "lastProbeTime": None,
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}
_SYNC_FAILED = ("DisruptionAllowed", "False", "SyncFailed")
_DISRUPTED_LIMIT = 2000
_CAUSES_TOLD = (1, 37)
_NEGATIVE = "pdb disruptions allowed is negative"
_TOO_BIG = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"


class EvictionAction:
    def __init__(self, backend: Backend, deleter: Deleter, updater: Updater) -> None:
        self._backend = backend
        self._deleter = deleter
        self._updater = updater

    async def post(self, call: Call, options: WriteOptions) -> Object:
        """Raises ApiError 404, or 429 where a budget forbids it now."""
        value = object_value(self._backend.definitions, call.request, EVICTION)
        eviction = decode_value(call, self._backend.definitions, EVICTION, value=value, validation=options.validation)
        eviction = owned(self._backend, call, EVICTION, eviction, options)
        asked = call.request.query.get("dryRun", [])
        await admit_create(
            self._backend, call, eviction, options, check=lambda changed: _check(call.info.name, changed, asked)
        )
        body: dict[str, Any] = dict(eviction.get("deleteOptions") or {})
        options = replace(options, dry_run=options.dry_run or bool(body.get("dryRun")))
        stored = await self._backend.storage.get(call.gvr_resource, call.info.namespace, call.info.name)
        if stored is not None and _counts(stored.object):
            await self._check_budgets(call, stored.object, options)
        body.pop("kind", None)
        body.pop("apiVersion", None)
        if options.dry_run:
            body["dryRun"] = ["All"]
        else:
            await self._mark(call, options, body)
        await self._deleter.delete(replace(call, request=replace(call.request, body=body or None)), admitted=True)
        return SUCCESS

    async def _mark(self, call: Call, options: WriteOptions, body: dict[str, Any]) -> None:
        """Say in the Pod why it goes (addConditionAndDeletePod): a Job's podFailurePolicy asks for it."""
        demands = body.get("preconditions") or {}

        def mark(old: Object) -> Object:
            _check_preconditions(old["metadata"], demands)
            pod = copy_object(old)
            set_condition(pod, dict(_EVICTED), self._backend.world.clock.timestamp())
            return pod

        marked = await self._updater.update(call, options, mark, tracked=True, rules=lambda new, old: [], admitted=True)
        if demands.get("resourceVersion"):
            body["preconditions"] = {**demands, "resourceVersion": marked["metadata"]["resourceVersion"]}

    async def _check_budgets(self, call: Call, pod: Object, options: WriteOptions) -> None:
        info = self._backend.resources.get(*BUDGETS)
        if info is None:
            return
        cache = await self._backend.caches.started(info)
        labels = pod["metadata"].get("labels") or {}
        budgets = [
            budget
            for budget in cache.objects(call.info.namespace)
            if LabelSelector.from_object((budget.get("spec") or {}).get("selector")).matches(labels)
        ]
        if len(budgets) > 1:
            raise ApiError(
                500,
                "",
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            )
        if not budgets or self._may_ignore(pod, budgets[0]):
            return
        await self._take(call, budgets[0]["metadata"]["name"], pod["metadata"]["name"], options)

    def _may_ignore(self, pod: Object, budget: Object) -> bool:
        """A Pod that is not ready does not count for a budget that is satisfied or that says so."""
        if _ready(pod):
            return False
        if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return True
        status = budget.get("status") or {}
        desired = status.get("desiredHealthy", 0)
        return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)

    async def _take(self, call: Call, budget: str, pod: str, options: WriteOptions) -> None:
        """Book the disruption in the budget's status, or refuse."""
        info = self._backend.resources.get(*BUDGETS)
        assert info is not None
        request = call.info._replace(
            verb="update",
            group=info.gvr.group,
            version=info.gvr.version,
            resource=info.gvr.resource,
            subresource="status",
            name=budget,
        )
        inner = replace(call, info=request, resource=info, object=describe(info, request.namespace, budget))
        now = self._backend.world.clock.timestamp()

        def book(old: Object) -> Object:
            status = old.get("status") or {}
            if status.get("observedGeneration", 0) < old["metadata"].get("generation", 0):
                raise _too_many(budget, "The disruption budget %s is still being processed by the server.")
            allowed = status.get("disruptionsAllowed", 0)
            if allowed < 0:
                raise self._broken(budget, "DisruptionBudgetNegativeAllowedDisruptions", _NEGATIVE)
            if len(status.get("disruptedPods") or {}) > _DISRUPTED_LIMIT:
                raise self._broken(budget, "DisruptionBudgetTooManyDisruptedPods", _TOO_BIG)
            if not allowed:
                raise _needs(budget, status)
            new = copy_object(old)
            new["status"]["disruptionsAllowed"] = allowed - 1
            if allowed == 1:
                _allows_no_more(new, now)
            new["status"].setdefault("disruptedPods", {})[pod] = now
            return new

        await self._updater.update(inner, options, book)

    def _broken(self, budget: str, cause: str, why: str) -> ApiError:
        """403 for a budget whose own state forbids any eviction, with a cause for programs to read."""
        error = forbidden(_SINGULAR, budget, why)
        if self._backend.definitions.release >= _CAUSES_TOLD:
            error.details = {**(error.details or {}), "causes": [{"reason": cause, "message": why}]}
        return error


def _check(name: str, eviction: Object, of_request: list[str]) -> None:
    """What plugins left of an eviction. Raises ApiError 400, 422, and 500 where the request says another `dryRun` than
    the body: either may say that nothing is to be kept (propagateDryRun)."""
    if eviction["metadata"].get("name", "") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    body = eviction.get("deleteOptions") or {}
    if body.get(UNSAFE):
        why = "can not be set for pod eviction, try after removing the option"
        raise invalid(EVICTION, name, [field_invalid(f"deleteOptions.{UNSAFE}", True, why)])
    of_body = body.get("dryRun") or []
    if of_request and of_body and of_request != of_body:
        shown = f"[{' '.join(of_request)}] and [{' '.join(of_body)}]"
        raise ApiError(500, "", f"Non-matching dry-run options in request and content: {shown}")


def _check_preconditions(kept: Object, demands: Object) -> None:
    if (uid := demands.get("uid")) and uid != kept["uid"]:
        why = f"the UID in the precondition ({uid}) does not match the UID in record ({kept['uid']}). "
        raise conflict(_POD, kept["name"], f"{why}The object might have been deleted and then recreated")
    if (version := demands.get("resourceVersion")) and version != kept["resourceVersion"]:
        why = f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record "
        raise conflict(_POD, kept["name"], f"{why}({kept['resourceVersion']}). The object might have been modified")


def _allows_no_more(budget: Object, now: str) -> None:
    """The condition of a budget that is used up (component-helpers UpdateDisruptionAllowedCondition)."""
    conditions = budget["status"].setdefault("conditions", [])
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": budget["status"].get("observedGeneration", 0),
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    for position, present in enumerate(conditions):
        if present.get("type") == condition["type"]:
            if present.get("status") == condition["status"]:
                condition["lastTransitionTime"] = present.get("lastTransitionTime", now)
            conditions[position] = condition
            return
    conditions.append(condition)


def _counts(pod: Object) -> bool:
    """Whether evicting the Pod disrupts anything: not if it has ended, is not bound, or is being deleted."""
    phase = (pod.get("status") or {}).get("phase")
    return phase not in ("Succeeded", "Failed", "Pending") and "deletionTimestamp" not in pod["metadata"]


def _ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _too_many(budget: str, why: str) -> ApiError:
    cause = {"reason": "DisruptionBudget", "message": why.replace("%s", budget)}
    return ApiError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details={"causes": [cause], "retryAfterSeconds": 10},
        retry_after=10,
    )


def _needs(budget: str, status: Object) -> ApiError:
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    why = f"The disruption budget {budget} needs {desired} healthy pods and has {current} currently"
    for condition in status.get("conditions") or ():
        if (condition["type"], condition["status"], condition.get("reason")) == _SYNC_FAILED:
            why = (
                f"The disruption budget {budget} does not allow evicting pods currently because it failed sync: "
                f"{condition.get('message', '')}"
            )
    error = _too_many(budget, why)
    assert error.details is not None
    del error.details["retryAfterSeconds"]
    error.retry_after = None
    return error
