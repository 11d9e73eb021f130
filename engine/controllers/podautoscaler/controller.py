"""The HorizontalPodAutoscaler controller (pkg/controller/podautoscaler/horizontal.go).

Every fifteen seconds each autoscaler compares what its target's Pods use, as the resource metrics API tells it, with
what it wants; metrics of other kinds need an API that nobody serves, and fail as they do in a cluster without adapters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from engine.api.errors import ApiError
from engine.api.quantity import Quantity
from engine.api.selectors import LabelSelector
from engine.api.types import GVR, PODS, Object
from engine.client import NORMAL, WARNING, object_key
from engine.controllers.conditions import Conditions, conditions_of, find_condition
from engine.controllers.controller import Controller
from engine.controllers.discovery import CUSTOM_RESOURCE_DEFINITIONS, Discovery, parse_api_version
from engine.controllers.features import looks_at_new_autoscalers_at_once, scales_to_zero, tells_metric_errors_last
from engine.controllers.podautoscaler.limits import History, normalize
from engine.controllers.podautoscaler.metric_texts import (
    UNSERVED,
    Failure,
    failure,
    metric_name,
    metric_status,
    not_served,
)
from engine.controllers.podautoscaler.metrics import MetricError, usage
from engine.controllers.podautoscaler.replicas import Proposal, Target, Tolerances, propose
from engine.controllers.podautoscaler.selections import SelectionError, Selections
from engine.controllers.podautoscaler.zero import SCALED_TO_ZERO, after_rescale, wakes

AUTOSCALERS = GVR("autoscaling", "v2", "horizontalpodautoscalers")
PERIOD = 15.0  # --horizontal-pod-autoscaler-sync-period


class Computed(NamedTuple):
    """What one metric asks for; `name` is as conditions and events call the metric."""

    proposal: Proposal
    name: str
    status: Object


class HorizontalPodAutoscaler(Controller):
    name = "horizontal-pod-autoscaler"
    kind = "horizontalpodautoscaler"

    def set_up(self) -> None:
        self._autoscalers = self.lister(AUTOSCALERS)
        self._pods = self.lister(PODS)
        self._discovery = Discovery(self.config.kubernetes_version)
        self._tells_zero = scales_to_zero(self.config.kubernetes_version)
        self._tells_errors_last = tells_metric_errors_last(self.config.kubernetes_version)
        self._histories: dict[str, History] = {}
        self._selections = Selections()
        # One that is new or of which more is asked does not wait for its turn; up to 1.36 it did.
        at_once = looks_at_new_autoscalers_at_once(self.config.kubernetes_version)
        self.watch(AUTOSCALERS, _changed, delay=None if at_once else lambda key, old, new: PERIOD)
        if self._discovery.has(CUSTOM_RESOURCE_DEFINITIONS):
            self.watch(CUSTOM_RESOURCE_DEFINITIONS, self._discovery.follow)

    async def reconcile(self, key: str) -> None:
        autoscaler = self._autoscalers.by_key(key)
        if autoscaler is None:
            self._histories.pop(key, None)
            self._selections.forget(key)
            return
        try:
            await self._sync(key, autoscaler)
        finally:
            self.queue.add_after(key, PERIOD)

    # -- one look

    async def _sync(self, key: str, autoscaler: Object) -> None:
        status = dict(autoscaler.get("status") or {})
        status["conditions"] = list(conditions_of(status))
        if generation := autoscaler["metadata"].get("generation"):
            status["observedGeneration"] = generation
        try:
            resource, scale = await self._scale(autoscaler)
        except (ApiError, MetricError) as error:
            self.recorder.event(autoscaler, WARNING, "FailedGetScale", str(error))
            text = f"the HPA controller was unable to get the target's current scale: {error}"
            self._set(status, "AbleToScale", "False", "FailedGetScale", text)
            await self._write(autoscaler, status)
            return
        text = "the HPA controller was able to get the target's current scale"
        self._set(status, "AbleToScale", "True", "SucceededGetScale", text)
        current = int((scale.get("spec") or {}).get("replicas", 0))
        history = self._histories.setdefault(key, History(current, self.clock.monotonic()))
        status.pop("currentMetrics", None)  # they are of one look; there are none where nothing is measured
        decided = await self._decide(autoscaler, scale, status, history)
        status["currentReplicas"] = current
        status.setdefault("desiredReplicas", 0)
        if decided is None:
            await self._write(autoscaler, status)
            return
        desired, reason = decided
        self.note(desired={"replicas": desired}, actual={"replicas": current})
        if desired == current:
            status["desiredReplicas"] = desired
        else:
            await self._rescale(autoscaler, resource, scale, status=status, history=history, to=desired, reason=reason)
        await self._write(autoscaler, status)

    async def _scale(self, autoscaler: Object) -> tuple[GVR, Object]:
        reference = autoscaler["spec"]["scaleTargetRef"]
        gvk = parse_api_version(reference.get("apiVersion", ""), reference["kind"])
        resource = self._discovery.by_kind(gvk)
        if resource is None:
            shown = f'no matches for kind "{gvk.kind}" in group "{gvk.group}"'
            raise MetricError(shown)
        namespace = autoscaler["metadata"]["namespace"]
        found = await self.client.get(resource.gvr, reference["name"], namespace=namespace, subresource="scale")
        return resource.gvr, found

    async def _decide(
        self, autoscaler: Object, scale: Object, status: Object, history: History
    ) -> tuple[int, str] | None:
        """The wanted size and why; None if that cannot be told."""
        spec, current = autoscaler["spec"], int((scale.get("spec") or {}).get("replicas", 0))
        least, most = int(spec.get("minReplicas", 1)), int(spec["maxReplicas"])
        if current == 0 and not (self._tells_zero and wakes(spec, status)):
            text = "scaling is disabled since the replica count of the target is zero"
            self._set(status, "ScalingActive", "False", "ScalingDisabled", text)
            return 0, ""
        if current > most:
            return most, "Current number of replicas above Spec.MaxReplicas"
        if 0 < current < least:
            return least, "Current number of replicas below Spec.MinReplicas"
        computed = await self._compute(autoscaler, scale, status, current)
        if computed is None:
            return None
        wanted = computed.proposal.replicas
        reason = ""  # a size that the metric is content with changes only by what was recommended before
        if wanted != current:
            reason = f"{computed.name} above target" if wanted > current else "All metrics below target"
        now = self.clock.monotonic()
        verdict = normalize(autoscaler, history, current=current, desired=wanted, now=now)
        self._set(status, "AbleToScale", *verdict.able)
        self._set(status, "ScalingLimited", *verdict.limited)
        return (verdict.replicas if current else max(verdict.replicas, least)), reason

    # -- metrics

    async def _compute(self, autoscaler: Object, scale: Object, status: Object, current: int) -> Computed | None:
        """The metric that asks for the most; a metric that cannot be had forbids to shrink."""
        key, namespace = object_key(autoscaler), autoscaler["metadata"]["namespace"]
        text = (scale.get("status") or {}).get("selector", "")
        try:
            self._selections.choose(key, text, lambda selector: self._pods.list(namespace, selector))
        except SelectionError as error:
            self.recorder.event(autoscaler, WARNING, error.reason, str(error))
            self._set(status, "ScalingActive", "False", *error.condition)
            self.recorder.event(autoscaler, WARNING, "FailedComputeMetricsReplicas", str(error))
            return None
        best: Computed | None = None
        statuses: list[Object] = []
        failures: list[Failure] = []
        metrics = autoscaler["spec"].get("metrics") or ()
        for metric in metrics:
            try:
                computed = await self._one(namespace, text, metric, autoscaler=autoscaler, current=current)
            except MetricError as error:
                failures.append(failed := failure(metric, error))
                self.recorder.event(autoscaler, WARNING, failed.reason, failed.text)
                statuses.append({"type": ""})  # upstream leaves the place of a metric that it has not got empty
                continue
            statuses.append(computed.status)
            if best is None or computed.proposal.replicas > best.proposal.replicas:
                best = computed
        status["currentMetrics"] = statuses
        if failures and (best is None or best.proposal.replicas < current):
            self._fail(autoscaler, status, failures, len(metrics))
            return None
        if best is None:
            return None
        text = f"the HPA was able to successfully calculate a replica count from {best.name}"
        self._set(status, "ScalingActive", "True", "ValidMetricFound", text)
        return best

    def _fail(self, autoscaler: Object, status: Object, failures: list[Failure], count: int) -> None:
        first = failures[0]
        text = f"the HPA was unable to compute the replica count: {first.text}"
        self._set(status, "ScalingActive", "False", first.reason, text)
        what = f"invalid metrics ({len(failures)} invalid out of {count}), first error is: {first.prefixed}"
        self.recorder.event(autoscaler, WARNING, "FailedComputeMetricsReplicas", what)

    async def _one(
        self, namespace: str, selector: str, metric: Object, *, autoscaler: Object, current: int
    ) -> Computed:
        kind = metric["type"]
        if kind in UNSERVED:
            raise MetricError(not_served(metric, namespace, error_last=self._tells_errors_last))
        source = metric["resource" if kind == "Resource" else "containerResource"]
        resource, container, target = source["name"], source.get("container", ""), source["target"]
        average = Quantity.parse(target["averageValue"]).milli if target.get("averageValue") is not None else None
        try:
            measured = await usage(self.client, namespace, selector, resource, container)
            proposal = propose(
                self._target_pods(namespace, selector),
                measured.used,
                Target(target.get("averageUtilization"), average),
                resource=resource,
                container=container,
                current=current,
                tolerances=Tolerances.of(autoscaler["spec"].get("behavior") or {}),
                now=self.clock.now(),
                since=measured.since,
            )
        except MetricError as error:
            what = "utilization" if average is None else "usage"
            raise MetricError(f"failed to get {resource} {what}: {error}") from None
        return Computed(proposal, metric_name(resource, container, proposal), metric_status(metric, source, proposal))

    def _target_pods(self, namespace: str, selector: str) -> list[Object]:
        found = self._pods.list(namespace, LabelSelector.parse(selector))
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    # -- acting

    async def _rescale(
        self,
        autoscaler: Object,
        resource: GVR,
        scale: Object,
        *,
        status: Object,
        history: History,
        to: int,
        reason: str,
    ) -> None:
        desired, current = to, status["currentReplicas"]
        try:
            changed = {**scale, "spec": {**(scale.get("spec") or {}), "replicas": desired}}
            await self.client.update(resource, changed, subresource="scale")
        except ApiError as error:
            text = f"New size: {desired}; reason: {reason}; error: {error}"
            self.recorder.event(autoscaler, WARNING, "FailedRescale", text)
            text = f"the HPA controller was unable to update the target scale: {error}"
            self._set(status, "AbleToScale", "False", "FailedUpdateScale", text)
            return
        text = f"the HPA controller was able to update the target scale to {desired}"
        self._set(status, "AbleToScale", "True", "SucceededRescale", text)
        self.recorder.event(autoscaler, NORMAL, "SuccessfulRescale", f"New size: {desired}; reason: {reason}")
        history.scaled(current, desired, self.clock.monotonic())
        status["desiredReplicas"] = desired
        status["lastScaleTime"] = self.clock.timestamp()
        if self._tells_zero:
            self._set(status, SCALED_TO_ZERO, *after_rescale(autoscaler["spec"], current, desired))

    def _set(self, status: Object, kind: str, value: str, reason: str, message: str) -> None:
        conditions: Conditions = status["conditions"]
        known = find_condition(conditions, kind)
        since = known["lastTransitionTime"] if known is not None and known["status"] == value else ""
        made: dict[str, Any] = {
            "type": kind,
            "status": value,
            "lastTransitionTime": since or self.clock.timestamp(),
            "reason": reason,
            "message": message,
        }
        if generation := status.get("observedGeneration"):
            made["observedGeneration"] = generation
        if known is None:
            conditions.append(made)
        else:
            conditions[conditions.index(known)] = made

    async def _write(self, autoscaler: Object, status: Object) -> None:
        if status == (autoscaler.get("status") or {}):
            return
        try:
            await self.client.update_status(AUTOSCALERS, {**autoscaler, "status": status})
        except ApiError as error:
            self.recorder.event(autoscaler, WARNING, "FailedUpdateStatus", str(error))
            raise


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    if old is not None and new is not None and old["spec"] == new["spec"]:
        return []
    return [object_key(new or old or {})]
