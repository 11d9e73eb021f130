"""What a TokenRequest must be (pkg/apis/authentication/validation)."""

from __future__ import annotations

from typing import Any

from engine.api.errors import Cause
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_SHORTEST, _LONGEST = 600, 1 << 32  # seconds
_WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_API_GROUPS = "admissionReviewAPIGroups"
_ONE = f"webhook bound requests require exactly one {_API_GROUPS} attestation"
_OF_WEBHOOKS = "attestations may only be specified with a webhook bound object reference"


def is_of_webhook(reference: Object | None) -> bool:
    """Whether a token is to be bound to the configuration of webhooks, which are shown it."""
    found = reference or {}
    return found.get("kind") in _WEBHOOKS and found.get("apiVersion") == "admissionregistration.k8s.io/v1"


def token_causes(spec: Object, *, attested: bool) -> list[Cause]:
    """`attested` is for releases that know of attestations."""
    problems, seconds = Problems(), spec["expirationSeconds"]
    if seconds < _SHORTEST:
        problems.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST:
        problems.invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not attested:
        return problems
    attestations, path = spec.get("attestations"), "spec.attestations"
    if is_of_webhook(spec.get("boundObjectRef")):
        if len(spec["audiences"]) != 1:
            problems.invalid("spec.audiences", spec["audiences"], "must be length 1 when bound to a webhook config")
        _attestations(attestations, path, problems)
    elif attestations:
        problems.clear()  # nothing else is told then
        problems.invalid(path, _in_order(attestations), _OF_WEBHOOKS)
    return problems


def _attestations(attestations: Object | None, path: str, problems: Problems) -> None:
    if attestations is None or len(attestations) != 1:
        problems.invalid(path, _in_order(attestations), _ONE)
        return
    ((key, values),) = attestations.items()
    at = f"{path}[{key}]"
    if key != _API_GROUPS:
        problems.not_supported(at, key, (_API_GROUPS,))
    elif len(values or ()) != 1:
        problems.invalid(at, values, "must specify a single value")
    elif not values[0]:
        problems.invalid(f"{at}[0]", "", "may not be an empty string")
    elif values[0] != "*":
        wrong = (f"must specify a valid API Group: {why}" for why in text.dns_subdomain(values[0]))
        problems.all_invalid(f"{at}[0]", values[0], wrong)


def _in_order(attestations: Object | None) -> Any:
    """As Go writes a map."""
    return attestations and dict(sorted(attestations.items()))
