"""What may be consumed only where a quota covers it: the limited resources of a ResourceQuotaConfiguration.

Source: apiserver pkg/admission/plugin/resourcequota (controller.go CheckRequest, config.go and apis/resourcequota).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.quota import concerns, grown, matching_terms, terms, usage
from engine.api.quota.extended_resources import ExtendedResources
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.apiserver.admission.attributes import Attributes, denied
from engine.apiserver.admission.quota_checks import asked, concerns_object

# Each version with the kind that it calls this.
KINDS = {
    "apiserver.config.k8s.io/v1": "ResourceQuotaConfiguration",
    "resourcequota.admission.k8s.io/v1beta1": "Configuration",
    "resourcequota.admission.k8s.io/v1alpha1": "Configuration",
}


def limited_problems(configuration: Object) -> Problems:
    """What is wrong with a configuration."""
    problems = Problems()
    for position, limited in enumerate(configuration.get("limitedResources") or ()):
        if not limited.get("resource"):
            problems.required(f"limitedResources[{position}].resource")
    return problems


def check_cover(
    attributes: Attributes, quotas: Sequence[Object], limited: Sequence[Object], extended: ExtendedResources | None
) -> None:
    """`limited` are those of a configuration without problems. Raises ApiError 403 for a resource that no quota covers,
    500 for a scope; and before that what a quota says of an object that it is about."""
    resource, obj = attributes.resource.gvr.group_resource, attributes.object
    assert obj is not None, "what is deleted takes nothing"
    about = [quota for quota in quotas if concerns_object(attributes, quota, extended)]
    if not _takes(attributes, about, extended):
        return
    covered = {name for quota in about for name in _hard(quota) if concerns(resource, name, extended)}
    parts = [part for each in limited if _group_resource(each) == resource for part in each.get("matchContains") or ()]
    taken = (name for name, amount in usage(resource, obj, extended=extended).items() if amount)
    names = sorted(name for name in taken if name not in covered and any(part in name for part in parts))
    if names:
        raise denied(attributes, f"insufficient quota to consume: {','.join(names)}")
    own = {term["scopeName"] for quota in quotas for term in matching_terms(terms(quota["spec"]), resource, obj)}
    wanted = [term for each in limited for term in matching_terms(each.get("matchScopes") or (), resource, obj)]
    if left := [_shown(term) for term in wanted if term["scopeName"] not in own]:
        raise ApiError(500, "", f"insufficient quota to match these scopes: [{' '.join(left)}]")


def _takes(attributes: Attributes, about: Sequence[Object], extended: ExtendedResources | None) -> bool:
    """Whether the request takes anything that was not taken before."""
    if about:
        return any(asked(attributes, quota, extended) for quota in about)
    resource, obj, old = attributes.resource.gvr.group_resource, attributes.object, attributes.old
    assert obj is not None, "what is deleted takes nothing"
    before = usage(resource, old, extended=extended) if old is not None else {}
    return bool(grown(usage(resource, obj, extended=extended), before))


def _hard(quota: Object) -> Object:
    hard: Object = (quota.get("status") or {}).get("hard") or {}
    return hard


def _group_resource(limited: Object) -> str:
    group = limited.get("apiGroup")
    return f"{limited['resource']}.{group}" if group else str(limited["resource"])


def _shown(term: Object) -> str:
    """A term as Go prints it (%v)."""
    return f"{{{term['scopeName']} {term.get('operator', '')} [{' '.join(term.get('values') or ())}]}}"
