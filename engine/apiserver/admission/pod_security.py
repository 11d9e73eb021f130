"""PodSecurity: the Pod Security Standards that a namespace's labels ask for, enforced, warned of and audited.

Source: pod-security-admission admission/admission.go, plugin/pkg/admission/security/podsecurity. Nothing is exempt,
and a namespace without labels is privileged, unless a PodSecurityConfiguration says else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.api.errors import invalid
from engine.api.pod_security import PREFIX, PRIVILEGED, Configuration, LevelVersion, Policy, evaluate, policy_of
from engine.api.resources import ResourceInfo
from engine.api.types import NAMESPACES, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, Watched, denied
from engine.apiserver.admission.pod_security_metrics import AUDIT, ENFORCE, WARN, PodSecurityMetrics
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.lookup import Lookup

_NONE = Configuration()
_MAX_PODS = 3000
_POD_SUBRESOURCES = frozenset(("", "ephemeralcontainers", "resize"))
_CONTROLLERS = frozenset(
    (
        "replicationcontrollers",
        "podtemplates",
        "replicasets.apps",
        "deployments.apps",
        "statefulsets.apps",
        "daemonsets.apps",
        "jobs.batch",
        "cronjobs.batch",
    )
)
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF = "container.seccomp.security.alpha.kubernetes.io/"
_PRIVILEGED = "privileged:latest"  # of whichever version the namespace speaks


class PodSecurity(Plugin):
    name = "PodSecurity"
    operations = WRITES

    def __init__(
        self,
        lookup: Lookup,
        caches: WatchCaches,
        *,
        pods: ResourceInfo | None,
        namespaces: ResourceInfo | None,
        metrics: PodSecurityMetrics,
        configuration: Configuration = _NONE,
    ) -> None:
        self._configuration = configuration
        self._metrics = metrics
        self._lookup = lookup
        self._caches = caches
        self._pods = pods
        self._namespaces = namespaces
        # What is asked where a namespace says nothing: of most Pods nothing at all.
        self._free = {each: _is_privileged(configuration.defaults, enforce=each) for each in (True, False)}

    async def validate(self, attributes: Attributes) -> None:
        if attributes.object is None or attributes.operation not in (Operation.CREATE, Operation.UPDATE):
            return
        resource = attributes.resource.gvr.group_resource
        if resource == "namespaces" and not attributes.subresource:
            await self._namespace(attributes, attributes.object)
        elif resource == "pods" and attributes.subresource in _POD_SUBRESOURCES:
            await self._evaluate(attributes, attributes.object, enforce=True)
        elif attributes.key in _CONTROLLERS:
            template = _template(attributes.object)
            if template:
                await self._evaluate(attributes, template, enforce=False)

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        """Where nothing is asked of the Pods of a namespace, and nobody is exempt."""
        exempts = self._configuration.namespaces or self._configuration.usernames
        if exempts or not self._free[True] or self._namespaces is None:
            return None
        cache = self._caches.of(self._namespaces)
        found = cache.get(self._namespaces.key("", attributes.namespace)) if cache is not None else None
        if cache is None or found is None or _states(found["metadata"].get("labels") or {}):
            return None
        return (cache,)

    def spare(self, attributes: Attributes) -> None:
        self._let(attributes, self._configuration.defaults)

    def _let(self, attributes: Attributes, policy: Policy) -> None:
        """A Pod of which nothing is asked."""
        self._metrics.evaluated(attributes, policy.enforce, ENFORCE, allowed=True)
        attributes.annotations[f"{PREFIX}enforce-policy"] = _PRIVILEGED

    # -- Pods, and what makes Pods

    async def _evaluate(self, attributes: Attributes, pod: Object, *, enforce: bool) -> None:
        if exempt := self._exempt(attributes):
            self._excuse(attributes, exempt)
            return
        labels, defaults = await self._labels(attributes.namespace), self._configuration.defaults
        stated = _states(labels)
        policy, problems = policy_of(labels, defaults) if stated else (defaults, [])
        if not problems and (_is_privileged(policy, enforce=enforce) if stated else self._free[enforce]):
            if enforce:
                self._let(attributes, policy)
            return
        if enforce and attributes.old is not None and not _significant(pod, attributes.old):
            return
        if (pod.get("spec") or {}).get("runtimeClassName") in self._configuration.runtime_classes:
            self._excuse(attributes, "runtimeClass")
            return
        annotations = attributes.annotations
        if problems:
            self._metrics.failed(attributes)
            texts = list(dict.fromkeys(map(str, problems)))
            told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            annotations[f"{PREFIX}error"] = f"Failed to parse policy: {told}"
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        audited = evaluate(policy.audit, metadata, spec)
        if not audited.allowed:
            self._metrics.evaluated(attributes, policy.audit, AUDIT, allowed=False)
            annotations[f"{PREFIX}audit-violations"] = f'would violate PodSecurity "{policy.audit}": {audited.detail}'
        if enforce:
            annotations[f"{PREFIX}enforce-policy"] = str(policy.enforce)
            result = evaluate(policy.enforce, metadata, spec)
            self._metrics.evaluated(attributes, policy.enforce, ENFORCE, allowed=result.allowed)
            if not result.allowed:
                raise denied(attributes, f'violates PodSecurity "{policy.enforce}": {result.detail}')
        warned = evaluate(policy.warn, metadata, spec)
        if not warned.allowed:
            self._metrics.evaluated(attributes, policy.warn, WARN, allowed=False)
            attributes.warnings.append(f'would violate PodSecurity "{policy.warn}": {warned.detail}')

    def _exempt(self, attributes: Attributes) -> str:
        """By what a request is exempt, if it is."""
        if attributes.namespace in self._configuration.namespaces:
            return "namespace"
        return "user" if attributes.user.name in self._configuration.usernames else ""

    def _excuse(self, attributes: Attributes, by: str) -> None:
        self._metrics.exempted(attributes)
        attributes.annotations[f"{PREFIX}exempt"] = by

    async def _labels(self, namespace: str) -> Object:
        """The labels of a namespace; from the cache where it is filled, as upstream takes them from an informer."""
        cache = self._caches.of(self._namespaces) if self._namespaces is not None else None
        found = cache.get(self._namespaces.key("", namespace)) if cache is not None and self._namespaces else None
        if found is None:
            found = await self._lookup.find(NAMESPACES, "", namespace)
        labels: Object = ((found or {}).get("metadata") or {}).get("labels") or {}
        return labels

    # -- namespaces

    async def _namespace(self, attributes: Attributes, namespace: Object) -> None:
        defaults, labels = self._configuration.defaults, namespace["metadata"].get("labels") or {}
        policy, problems = policy_of(labels, defaults)
        exempt = namespace["metadata"]["name"] in self._configuration.namespaces
        if attributes.old is None:
            if problems:
                raise invalid(attributes.resource.gvk, attributes.name, problems)
            if exempt:
                attributes.warnings.extend(self._in_vain(namespace["metadata"]["name"], policy, labels))
            return
        before, old_problems = policy_of(attributes.old["metadata"].get("labels"), defaults)
        if problems and problems != old_problems:
            raise invalid(attributes.resource.gvk, attributes.name, problems)
        new, old = policy.enforce, before.enforce
        relaxed = new.version == old.version and new.strictness <= old.strictness
        if new == old or new.level == PRIVILEGED or relaxed:
            return
        if exempt:
            attributes.warnings.extend(self._in_vain(attributes.name, policy, labels))
            return
        attributes.warnings.extend(await self._existing(attributes.name, new))

    def _in_vain(self, namespace: str, policy: Policy, labels: Object) -> Iterator[str]:
        """That a namespace is exempt from what its own labels ask for."""
        if policy.asks_as(self._configuration.defaults) or policy.asks_as(Policy()):
            return
        asked = ", ".join(
            f"{mode}={level}"
            for mode, level in zip(Policy._fields, policy, strict=True)
            if level.level != PRIVILEGED and (f"{PREFIX}{mode}" in labels or f"{PREFIX}{mode}-version" in labels)
        )
        yield f'namespace "{namespace}" is exempt from Pod Security, and the policy ({asked}) will be ignored'

    async def _existing(self, namespace: str, enforce: LevelVersion) -> list[str]:
        """What the Pods that are there do that the new level forbids."""
        if self._pods is None:
            return []
        cache = await self._caches.started(self._pods)
        guilty: dict[str, list[str]] = {}
        pods = list(cache.objects(namespace))
        for pod in pods[:_MAX_PODS]:
            if pod["spec"].get("runtimeClassName") in self._configuration.runtime_classes:
                continue
            result = evaluate(enforce, pod["metadata"], pod["spec"])
            if not result.allowed:
                guilty.setdefault(result.reason, []).append(pod["metadata"]["name"])
        warnings = []
        if len(pods) > _MAX_PODS:
            warnings.append(
                f"new PodSecurity enforce level only checked against the first {_MAX_PODS} of {len(pods)} existing pods"
            )
        if guilty:
            warnings.append(
                f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{enforce}"'
            )
        return warnings + sorted(_counted(names, reason) for reason, names in guilty.items())


def _counted(names: list[str], reason: str) -> str:
    others = len(names) - 1
    more = "" if not others else f" (and {others} other pod{'s' if others > 1 else ''})"
    return f"{min(names)}{more}: {reason}"


def _states(labels: Object) -> bool:
    """Whether a namespace's labels say anything of a policy."""
    return PREFIX in "\n".join(labels)


def _is_privileged(policy: Policy, *, enforce: bool) -> bool:
    """Whether nothing is asked of a Pod, or of what makes Pods."""
    asked = (policy.audit, policy.warn, *([policy.enforce] if enforce else ()))
    return all(each.level == PRIVILEGED for each in asked)


def _template(obj: Object) -> Object:
    """The Pod template of a controller's object."""
    if "template" in obj:
        return obj["template"] or {}
    spec = obj.get("spec") or {}
    spec = (spec.get("jobTemplate") or {}).get("spec") or spec
    template: Object = spec.get("template") or {}
    return template


def _significant(new: Object, old: Object) -> bool:
    """Whether an update of a Pod changes something that the checks look at."""
    return _looked_at(new) != _looked_at(old)


def _looked_at(pod: Object) -> list[tuple[str, ...]]:
    spec, annotations = pod.get("spec") or {}, pod["metadata"].get("annotations") or {}
    fields = ("containers", "initContainers", "ephemeralContainers")
    each = [container for field in fields for container in spec.get(field) or ()]
    images = [(one["name"], one.get("image", ""), annotations.get(_SECCOMP_OF + one["name"], "")) for one in each]
    return [(annotations.get(_SECCOMP, ""),), *images]
