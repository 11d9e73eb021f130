"""The device taint eviction controller: deletes Pods whose claims have devices with a NoExecute taint that is not
tolerated, or no longer (pkg/controller/devicetainteviction, KEP-5055).

A driver publishes taints in its ResourceSlices; since 1.37 DeviceTaintRules add others, and are told what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.device_taints import NO_EXECUTE
from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.api.wire import APPLY_PATCH
from engine.client import NORMAL, object_key
from engine.config import ClusterConfig
from engine.controllers.conditions import conditions_of, find_condition
from engine.controllers.controller import Controller
from engine.controllers.devicetainteviction.evictions import (
    Eviction,
    eviction_of,
    newest,
    pool_name,
    pool_of,
    results_of,
    selects,
    selects_result,
)
from engine.controllers.devicetainteviction.rule_status import EVICTION_IN_PROGRESS, Counts, condition_of
from engine.controllers.features import evicts_from_tainted_devices, taints_devices_by_rules
from engine.controllers.pod_conditions import DISRUPTION_TARGET, pod_conditions
from engine.controllers.pods import parse_time
from engine.controllers.resourceclaim import CLAIMS, claim_keys

SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
RULES = GVR("resource.k8s.io", "v1", "devicetaintrules")
STATUS_PERIOD = 10.0  # seconds that the status of a rule is let be
_BY_POOL = "pool"


class DeviceTaintEvictionController(Controller):
    """Keys are `pod:` and `rule:` with the object's own key."""

    name = "device-taint-eviction-controller"
    kind = "pod"
    workers = 8

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return evicts_from_tainted_devices(config.kubernetes_version)

    def set_up(self) -> None:
        self._pods, self._claims, self._slices = self.lister(PODS), self.lister(CLAIMS), self.lister(SLICES)
        self._rules = self.lister(RULES) if taints_devices_by_rules(self.config.kubernetes_version) else None
        self._marked: dict[str, str] = {}  # Pods that have to go, by key: their uid
        self._evicted: dict[str, int] = {}  # how many Pods have gone because of a rule, by its uid
        self.index(CLAIMS, _BY_POOL, lambda claim: {pool_of(device) for device in results_of(claim)})
        self.index(SLICES, _BY_POOL, lambda slice: [pool_name(slice)])
        self.watch(PODS, self._pod_changed)
        self.watch(CLAIMS, self._claim_changed)
        self.watch(SLICES, self._slice_changed)
        if self._rules is not None:
            self.watch(RULES, self._rule_changed)

    # -- what wakes what

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None:
            self._marked.pop(object_key(old or {}), None)
            return []
        if old is not None and _place(old) == _place(new):
            return []
        return [f"pod:{object_key(new)}"] if new["spec"].get("resourceClaims") else []

    def _claim_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        return dict.fromkeys(key for claim in (old, new) if claim is not None for key in _users(claim))

    def _slice_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is not None and new is not None and old["spec"] == new["spec"]:
            return []
        pool = pool_name(new or old or {})
        return dict.fromkeys(key for claim in self._claims.by_index(_BY_POOL, pool) for key in _users(claim))

    def _rule_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Its status is told at once, and before any Pod has to go."""
        if old is not None and new is not None and old["spec"] == new["spec"]:
            return []
        if new is None and old is not None:
            self._evicted.pop(old["metadata"]["uid"], None)
        rules = [rule for rule in (old, new) if rule is not None and _evicts(rule)]
        hit = (
            claim
            for claim in self._claims.list()
            if any(selects_result(rule, device) for rule in rules for device in results_of(claim))
        )
        first = [f"rule:{new['metadata']['name']}"] if new is not None else []
        return [*first, *dict.fromkeys(key for claim in hit for key in _users(claim))]

    def object_of(self, key: str) -> str:
        kind, _, name = key.partition(":")
        return f"{'devicetaintrule' if kind == 'rule' else self.kind}/{name}"

    async def reconcile(self, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "rule":
            await self._tell(name)
        elif (pod := self._pods.by_key(name)) is not None and not pod["metadata"].get("deletionTimestamp"):
            await self._judge(name, pod)

    # -- Pods

    async def _judge(self, key: str, pod: Object) -> None:
        eviction = self._eviction(pod, self._evicting())
        due = eviction.when.isoformat() if eviction is not None else None
        self.note(desired={"evictAt": due}, actual={"rules": sorted(eviction.rules) if eviction is not None else []})
        if eviction is None:
            if self._marked.pop(key, None) is not None:
                self.recorder.event(pod, NORMAL, "DeviceTaintManagerEviction", "Cancelling deletion")
            return
        for rule in sorted(eviction.rules):
            self.queue.add_after(f"rule:{rule}", STATUS_PERIOD)
        self._marked[key] = pod["metadata"]["uid"]
        if (seconds := (eviction.when - self.clock.now()).total_seconds()) > 0:
            self.queue.add_after(f"pod:{key}", seconds)
            return
        if await self._evict(pod):
            for rule in sorted(eviction.rules):
                self._count(rule)
        self._marked.pop(key, None)

    def _evicting(self) -> list[Object]:
        return [rule for rule in self._rules.list() if _evicts(rule)] if self._rules is not None else []

    def _eviction(self, pod: Object, rules: list[Object]) -> Eviction | None:
        """When a Pod has to go, if these rules evict. One without a Node may stay, and so may one whose claim is not
        reserved for it."""
        found: Eviction | None = None
        if not pod["spec"].get("nodeName"):
            return None
        for claim in self._used(pod):
            for device in results_of(claim):
                slices = newest(self._slices.by_index(_BY_POOL, pool_of(device)))
                if (eviction := eviction_of(device, slices, rules)) is not None:
                    found = eviction.joined(found)
        return found

    def _used(self, pod: Object) -> Iterator[Object]:
        for key in claim_keys(pod):
            claim = self._claims.by_key(key)
            users = ((claim or {}).get("status") or {}).get("reservedFor") or ()
            if claim is not None and any(user.get("uid") == pod["metadata"]["uid"] for user in users):
                yield claim

    async def _evict(self, pod: Object) -> bool:
        """Whether it was this controller that deleted the Pod."""
        metadata = pod["metadata"]
        try:
            found = await self.client.get(PODS, metadata["name"], namespace=metadata["namespace"])
            if found["metadata"]["uid"] != metadata["uid"] or found["metadata"].get("deletionTimestamp"):
                return False
            self.recorder.event(found, NORMAL, "DeviceTaintManagerEviction", "Marking for deletion")
            await self._mark(found)
            await self.client.delete(
                PODS, metadata["name"], namespace=metadata["namespace"], preconditions={"uid": metadata["uid"]}
            )
        except ApiError as error:
            if error.code != 404:
                raise
            return False
        return True

    async def _mark(self, pod: Object) -> None:
        conditions = pod_conditions(
            pod,
            DISRUPTION_TARGET,
            "True",
            now=self.clock.timestamp(),
            reason="DeletionByDeviceTaintManager",
            message="Device Taint manager: deleting due to NoExecute taint",
        )
        metadata = pod["metadata"]
        await self.client.patch(
            PODS,
            metadata["name"],
            {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": conditions}},
            namespace=metadata["namespace"],
            subresource="status",
        )

    # -- rules

    def _count(self, name: str) -> None:
        """The status is told later: the cache does not know yet that the Pod goes."""
        if self._rules is not None and (rule := self._rules.get(name)) is not None:
            uid = rule["metadata"]["uid"]
            self._evicted[uid] = self._evicted.get(uid, 0) + 1
            self.queue.add_after(f"rule:{name}", STATUS_PERIOD)

    async def _tell(self, name: str) -> None:
        rule = self._rules.get(name) if self._rules is not None else None
        if rule is None:
            return
        old = find_condition(conditions_of(rule.get("status") or {}), EVICTION_IN_PROGRESS)
        if old is not None and old.get("observedGeneration") == rule["metadata"].get("generation"):
            since = (self.clock.now() - parse_time(old["lastTransitionTime"])).total_seconds()
            if since < STATUS_PERIOD:
                self.queue.add_after(f"rule:{name}", STATUS_PERIOD - since)
                return
        condition = condition_of(rule, self._counts(rule))
        self.note(desired=condition, actual=old)
        if old is None or {**old, "lastTransitionTime": ""} != {**condition, "lastTransitionTime": ""}:
            await self._apply(rule, {**condition, "lastTransitionTime": self.clock.timestamp()})

    def _counts(self, rule: Object) -> Counts:
        evicted = self._evicted.get(rule["metadata"]["uid"], 0)
        effect = rule["spec"]["taint"].get("effect")
        if effect not in (NO_EXECUTE, "None"):
            return Counts(evicted=evicted)
        name = rule["metadata"]["name"]
        # Of a rule without effect it is told what it would do.
        rules = [*(each for each in self._evicting() if each["metadata"]["name"] != name), rule]
        pods = [pod for pod in self._pods.list() if not pod["metadata"].get("deletionTimestamp")]
        going = [pod for pod in pods if (found := self._eviction(pod, rules)) is not None and name in found.rules]
        namespaces = len({pod["metadata"]["namespace"] for pod in going})
        if effect == NO_EXECUTE:
            return Counts(len(going), namespaces, evicted=evicted)
        allocated = [device for claim in self._claims.list() for device in results_of(claim)]
        return Counts(
            len(going),
            namespaces,
            published=sum(
                selects(rule, slice["spec"]["driver"], slice["spec"]["pool"]["name"], device["name"])
                for slice in self._published()
                for device in slice["spec"].get("devices") or ()
            ),
            allocated=sum(selects_result(rule, device) for device in allocated),
            evicted=evicted,
        )

    def _published(self) -> Iterator[Object]:
        for pool in dict.fromkeys(pool_name(slice) for slice in self._slices.list()):
            yield from newest(self._slices.by_index(_BY_POOL, pool))

    async def _apply(self, rule: Object, condition: Object) -> None:
        name, uid = rule["metadata"]["name"], rule["metadata"]["uid"]
        applied = {
            "apiVersion": f"{RULES.group}/{RULES.version}",
            "kind": "DeviceTaintRule",
            "metadata": {"name": name, "uid": uid},
            "status": {"conditions": [condition]},
        }
        await self.client.patch(
            RULES,
            name,
            applied,
            subresource="status",
            content_type=APPLY_PATCH,
            field_manager=self.name,
            force=True,
        )


def _place(pod: Object) -> tuple[object, object]:
    return pod["spec"].get("nodeName"), (pod.get("status") or {}).get("resourceClaimStatuses")


def _users(claim: Object) -> list[str]:
    """The keys of the Pods that a claim is reserved for."""
    namespace = claim["metadata"]["namespace"]
    users = (claim.get("status") or {}).get("reservedFor") or ()
    return [f"pod:{namespace}/{user['name']}" for user in users if not user.get("apiGroup")]


def _evicts(rule: Object) -> bool:
    return bool(rule["spec"]["taint"].get("effect") == NO_EXECUTE)
