"""The disruption controller: how many Pods of a PodDisruptionBudget may be evicted now (pkg/controller/disruption)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.shown_selector import shown_selector
from engine.api.types import DEPLOYMENTS, GVR, PODS, REPLICA_SETS, Object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.batching import batch_period
from engine.controllers.conditions import conditions_of, find_condition, without_condition
from engine.controllers.controller import Controller
from engine.controllers.deployment.limits import scaled_value
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS, Discovery, parse_api_version
from engine.controllers.ownership import controller_of
from engine.controllers.pods import is_ready, parse_time
from engine.controllers.statefulset.controller import STATEFUL_SETS

BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
# A Pod whose eviction was granted and that is not gone after this counts as staying.
DELETION_TIMEOUT = timedelta(minutes=2)
_LISTED = {"ReplicaSet": REPLICA_SETS, "StatefulSet": STATEFUL_SETS, "Deployment": DEPLOYMENTS}


class Expected(NamedTuple):
    pods: int
    healthy: int


class NoScaleError(Exception):
    """Nobody says how many Pods there should be."""


class DisruptionController(Controller):
    name = "disruption-controller"
    kind = "poddisruptionbudget"
    event_source = "controllermanager"
    workers = 1

    def set_up(self) -> None:
        self._budgets = self.lister(BUDGETS)
        self._pods = self.lister(PODS)
        self._scales = {kind: self.lister(gvr) for kind, gvr in _LISTED.items()}
        self._discovery = Discovery(self.config.kubernetes_version)
        if self._discovery.has(CUSTOM_RESOURCE_DEFINITIONS):
            self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._discovery.follow)
        self.watch(BUDGETS, lambda old, new: [object_key(new or old or {})])
        self.watch(PODS, self._pod_changed, delay=self._delay)
        for gvr in _LISTED.values():
            self.watch(gvr, self._scale_changed)

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        keys: dict[str, None] = {}
        for pod in (old, new):
            if pod is not None:
                keys.update(dict.fromkeys(self._budgets_of(pod["metadata"])))
        if new is not None and len(keys) > 1:
            self._tell_of_several(new)
        return list(keys)

    def _tell_of_several(self, pod: Object) -> None:
        """Of a Pod with several budgets, which nobody can evict."""
        metadata = pod["metadata"]
        names = [key.partition("/")[2] for key in self._budgets_of(metadata)]
        if len(names) > 1:
            of = f'Pod "{metadata["namespace"]}"/"{metadata["name"]}" matches multiple PodDisruptionBudgets.'
            message = f'{of}  Chose "{names[0]}" arbitrarily.'
            self.recorder.event(pod, WARNING, "MultiplePodDisruptionBudgets", message)

    def _delay(self, key: str, old: Object | None, new: Object | None) -> float:
        budget = self._budgets.by_key(key)
        return batch_period(((budget or {}).get("status") or {}).get("expectedPods", 0))

    def _scale_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """A change of replicas, to the budgets of the Pods that are made from the template."""
        if old is not None and new is not None and old["spec"].get("replicas") == new["spec"].get("replicas"):
            return []
        scaled = new or old or {}
        template = scaled["spec"]["template"].get("metadata") or {}
        return self._budgets_of({"namespace": scaled["metadata"]["namespace"], "labels": template.get("labels")})

    def _budgets_of(self, metadata: Object) -> list[str]:
        return [
            object_key(budget)
            for budget in self._budgets.list(metadata["namespace"])
            if _selector(budget).matches(metadata.get("labels") or {})
        ]

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        budget = self._budgets.by_key(key)
        if budget is None:
            return
        pods = self._pods.list(budget["metadata"]["namespace"], _selector(budget))
        if not pods:
            self.recorder.event(budget, NORMAL, "NoPods", "No matching pods found")
        try:
            expected = await self._expected(budget, pods)
        except (ApiError, NoScaleError) as error:
            message = f"Failed to calculate the number of expected pods: {error}"
            self.recorder.event(budget, WARNING, "CalculateExpectedPodCountFailed", message)
            await self._write(budget, self._failed(budget, str(error)))
            return
        disrupted, recheck = self._disrupted(budget, pods)
        if recheck is not None:
            self.queue.add_after(key, recheck)
        status = self._status(budget, pods, expected, disrupted)
        self.note(desired={"healthy": expected.healthy}, actual={"healthy": status["currentHealthy"]})
        await self._write(budget, status)

    async def _expected(self, budget: Object, pods: list[Object]) -> Expected:
        """How many Pods there should be, and how many of them healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            total = await self._scale_of_all(budget, pods)
            allowed = scaled_value(spec["maxUnavailable"], total, round_up=True)
            return Expected(total, max(0, total - allowed))
        wanted = spec.get("minAvailable")
        if wanted is None:
            return Expected(0, 0)
        if isinstance(wanted, int):
            return Expected(len(pods), wanted)
        total = await self._scale_of_all(budget, pods)
        return Expected(total, scaled_value(wanted, total, round_up=True))

    async def _scale_of_all(self, budget: Object, pods: list[Object]) -> int:
        """The sum of what all controllers of the Pods are scaled to, each once."""
        scales: dict[str, int] = {}
        asked: set[str] = set()
        unmanaged = False
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                unmanaged = True
            elif reference["uid"] not in asked:
                asked.add(reference["uid"])
                found = await self._scale(reference, pod["metadata"]["namespace"])
                if found is None:
                    raise NoScaleError(f'found no controllers for pod "{pod["metadata"]["name"]}"')
                scales[found[0]] = found[1]
        if unmanaged:
            shown = shown_selector(budget["spec"].get("selector") or {})
            message = (
                f"Pods selected by this PodDisruptionBudget (selector: {shown}) were found to be unmanaged. As a "
                "result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "
                'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
            )
            self.recorder.event(budget, WARNING, "UnmanagedPods", message)
        return sum(scales.values())

    async def _scale(self, reference: Object, namespace: str) -> tuple[str, int] | None:
        """The uid and replicas of a controller, or of the Deployment behind a ReplicaSet; None if it has gone."""
        owner = self._listed(reference, namespace)
        above = controller_of(owner) if owner is not None and reference["kind"] == "ReplicaSet" else None
        if above is not None and above["kind"] == "Deployment":
            found = self._listed(above, namespace)
            reference, owner = (above, found) if found is not None else (reference, None)
        if owner is None:  # one of another kind, or that is not known here; a Deployment may have left its ReplicaSet
            return await self._scale_subresource(reference, namespace)
        return reference["uid"], int(owner["spec"].get("replicas", 1))

    def _listed(self, reference: Object, namespace: str) -> Object | None:
        group = parse_api_version(reference["apiVersion"], reference["kind"]).group
        lister = self._scales.get(reference["kind"]) if group in ("apps", "extensions") else None
        owner = lister.get(reference["name"], namespace) if lister is not None else None
        return owner if owner is not None and owner["metadata"]["uid"] == reference["uid"] else None

    async def _scale_subresource(self, reference: Object, namespace: str) -> tuple[str, int] | None:
        kind = parse_api_version(reference["apiVersion"], reference["kind"])
        resource = self._discovery.by_kind(kind)
        if resource is None:
            raise NoScaleError(f'no matches for kind "{kind.kind}" in version "{kind.api_version}"')
        try:
            scale = await self.client.get(resource.gvr, reference["name"], namespace=namespace, subresource="scale")
        except ApiError as error:
            if error.code != 404:
                raise
            if (error.details or {}).get("name") == reference["name"]:
                return None
            raise NoScaleError(f"{resource.gvr.group_resource} does not implement the scale subresource") from error
        if scale["metadata"].get("uid") != reference["uid"]:
            return None
        return reference["uid"], int(scale["spec"].get("replicas", 0))

    # -- status

    def _disrupted(self, budget: Object, pods: list[Object]) -> tuple[dict[str, str], float | None]:
        """Pods that were granted an eviction and are still there, and when the next of them is given up."""
        granted = (budget.get("status") or {}).get("disruptedPods") or {}
        now = self.clock.now()
        kept: dict[str, str] = {}
        waits = []
        for pod in pods:
            name = pod["metadata"]["name"]
            if name not in granted or pod["metadata"].get("deletionTimestamp"):
                continue
            due = parse_time(granted[name]) + DELETION_TIMEOUT
            if due <= now:
                message = f"Pod was expected by PDB {object_key(budget)} to be deleted but it wasn't"
                self.recorder.event(pod, WARNING, "NotDeleted", message)
            else:
                kept[name] = granted[name]
                waits.append((due - now).total_seconds())
        return kept, min(waits, default=None)

    def _status(self, budget: Object, pods: list[Object], expected: Expected, disrupted: dict[str, str]) -> Object:
        healthy = sum(
            is_ready(pod) and not pod["metadata"].get("deletionTimestamp") and pod["metadata"]["name"] not in disrupted
            for pod in pods
        )
        allowed = max(0, healthy - expected.healthy) if expected.pods > 0 else 0
        reason = "SufficientPods" if allowed else "InsufficientPods"
        generation = budget["metadata"].get("generation", 0)
        status: Object = {
            "observedGeneration": generation,
            "expectedPods": expected.pods,
            "desiredHealthy": expected.healthy,
            "currentHealthy": healthy,
            "disruptionsAllowed": allowed,
            "conditions": self._conditions(budget, bool(allowed), reason, "", generation=generation),
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        return status

    def _failed(self, budget: Object, message: str) -> Object:
        """Nothing may be disrupted as long as nobody knows how much may, and what is wanted now is not taken up
        (failSafe)."""
        before = budget.get("status") or {}
        counts = dict.fromkeys(("currentHealthy", "desiredHealthy", "expectedPods"), 0)
        observed = before.get("observedGeneration", 0)
        conditions = self._conditions(budget, False, "SyncFailed", message, generation=observed)
        return {**counts, **before, "disruptionsAllowed": 0, "conditions": conditions}

    def _conditions(self, budget: Object, allowed: bool, reason: str, message: str, *, generation: int) -> list[Object]:
        return disruption_conditions(
            conditions_of(budget.get("status") or {}),
            "True" if allowed else "False",
            reason=reason,
            message=message,
            generation=generation,
            now=self.clock.now(),
        )

    async def _write(self, budget: Object, status: Object) -> None:
        if status != (budget.get("status") or {}):
            await self.client.update_status(BUDGETS, {**budget, "status": status})


def disruption_conditions(
    conditions: list[Object], status: str, *, reason: str, message: str, generation: int, now: datetime
) -> list[Object]:
    """With `DisruptionAllowed` in step (meta.SetStatusCondition keeps the time of an unchanged status)."""
    old = find_condition(conditions, "DisruptionAllowed")
    same = old is not None and old["status"] == status
    new = {
        "type": "DisruptionAllowed",
        "status": status,
        **({"observedGeneration": generation} if generation else {}),
        "lastTransitionTime": old["lastTransitionTime"] if same and old else now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": reason,
        "message": message,
    }
    return [*without_condition(conditions, "DisruptionAllowed"), new]


def _selector(budget: Object) -> LabelSelector:
    return LabelSelector.from_object(budget["spec"].get("selector"))
