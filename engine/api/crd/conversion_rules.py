"""What a definition says of conversion between its versions.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go
(validateCustomResourceConversion). The paths are those of the internal version, which has no `webhook`.
"""

from __future__ import annotations

from engine.api.crd.demands import REVIEW_VERSIONS, Demands
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated
from engine.api.validation.webhook_client import client_config, wrong_ca_bundle

_PATH = "spec.conversion"
_CLIENT = f"{_PATH}.webhookClientConfig"
_STRATEGIES = ("None", "Webhook")
_NOT_WEBHOOK = "should not be set when strategy is not set to Webhook"


def check_conversion(spec: Object, demands: Demands, problems: Problems) -> None:
    conversion = spec.get("conversion")
    if conversion is None:
        return
    strategy, webhook = conversion.get("strategy"), conversion.get("webhook") or {}
    if strategy != "None" and spec.get("preserveUnknownFields"):
        problems.invalid(f"{_PATH}.strategy", strategy or "", "must be None if spec.preserveUnknownFields is true")
    problems.one_of(f"{_PATH}.strategy", strategy, _STRATEGIES)
    versions = webhook.get("conversionReviewVersions") or []
    if strategy == "Webhook":
        _client(webhook.get("clientConfig"), demands, problems)
        _review_versions(versions, demands, problems)
        return
    if webhook.get("clientConfig") is not None:
        problems.forbidden(_CLIENT, _NOT_WEBHOOK)
    if versions:
        problems.forbidden(f"{_PATH}.conversionReviewVersions", _NOT_WEBHOOK)


def _client(client: Object | None, demands: Demands, problems: Problems) -> None:
    if client is None:
        problems.required(_CLIENT, "required when strategy is set to Webhook")
        return
    client_config(_exchanged(client), _CLIENT, problems)
    bundle = client.get("caBundle")
    if bundle and demands.ca_bundle and (wrong := wrong_ca_bundle(bundle)):
        problems.invalid(f"{_CLIENT}.caBundle", bundle, wrong)


def _exchanged(client: Object) -> Object:
    """As upstream looks at it, which takes the name of a Service for its namespace: what is missing is told of where
    the other should be."""
    service = client.get("service")
    if service is None:
        return client
    exchanged = {"name": service.get("namespace"), "namespace": service.get("name")}
    return {**client, "service": {**service, **exchanged}}


def _review_versions(versions: list[str], demands: Demands, problems: Problems) -> None:
    path = f"{_PATH}.conversionReviewVersions"
    if not versions:
        problems.required(path)
        return
    twins = repeated(versions)
    for index, version in enumerate(versions):
        if index in twins:
            problems.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            problems.all_invalid(f"{path}[{index}]", version, text.dns_1035_label(version))
    if demands.review_version and not any(version in REVIEW_VERSIONS for version in versions):
        problems.invalid(path, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}")
