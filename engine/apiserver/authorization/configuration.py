"""An AuthorizationConfiguration: the form of its file, and what of it is wrong.

Sources: apiserver pkg/apis/apiserver/load, v1/defaults.go, validation/validation.go; pkg/kubeapiserver/authorizer
reload.go.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.api.cel.syntax import CompileError
from engine.api.errors import aggregated
from engine.api.golang.duration import duration_text, parse_duration
from engine.api.golang.forms import BOOL, STRING, Leaf, Struct
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import dns_subdomain
from engine.apiserver.authorization.match_conditions import compiled
from engine.apiserver.authorization.modes import MODES
from engine.apiserver.authorization.webhook import WebhookSettings
from engine.apiserver.config_files import ConfigFileError, decoded

KIND = "AuthorizationConfiguration"
WEBHOOK = "Webhook"
_SCHEME = "k8s.io/apiserver/pkg/apis/apiserver/load/load.go:32"
_MOST = 64
_LONGEST = 30.0
_CONNECTIONS = ("InClusterConfig", "KubeConfigFile")
_NO_CLUSTER = (
    "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
)


def _refuse_duration(value: Any) -> None:
    if isinstance(value, str):
        parse_duration(value)


_DURATION = Leaf("string", lambda value: isinstance(value, str), _refuse_duration)
_FORM = Struct(
    KIND,
    {
        "kind": STRING,
        "apiVersion": STRING,
        "authorizers": [
            Struct(
                "AuthorizerConfiguration",
                {
                    "type": STRING,
                    "name": STRING,
                    "webhook": Struct(
                        "WebhookConfiguration",
                        {
                            "authorizedTTL": _DURATION,
                            "cacheAuthorizedRequests": BOOL,
                            "unauthorizedTTL": _DURATION,
                            "cacheUnauthorizedRequests": BOOL,
                            "timeout": _DURATION,
                            "subjectAccessReviewVersion": STRING,
                            "matchConditionSubjectAccessReviewVersion": STRING,
                            "failurePolicy": STRING,
                            "connectionInfo": Struct(
                                "WebhookConnectionInfo", {"type": STRING, "kubeConfigFile": STRING}
                            ),
                            "matchConditions": [Struct("WebhookMatchCondition", {"expression": STRING})],
                        },
                    ),
                },
            )
        ],
    },
)


def load_configuration(file: Path) -> Object:
    """Raises ConfigFileError."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ConfigFileError(f"open {file}: {(error.strerror or str(error)).lower()}") from error
    try:
        found = decoded(text, KIND, _FORM, scheme=_SCHEME) if text else {}
    except ConfigFileError as error:
        raise ConfigFileError(f"failed to load AuthorizationConfiguration from file: {error}") from error
    problems = Problems()
    check(found, problems)
    if problems:
        raise ConfigFileError(aggregated(map(str, problems)))
    names = [
        f"expected name {each['type'].lower()} for authorizer {each['type']} instead of {each['name']}"
        for each in found["authorizers"]
        if each["type"] != WEBHOOK and each["name"] != each["type"].lower()
    ]
    if names:
        raise ConfigFileError(aggregated(names))
    if any(_connection(each).get("type") == _CONNECTIONS[0] for each in found["authorizers"]):
        raise ConfigFileError(_NO_CLUSTER)
    return found


def _connection(authorizer: Object) -> Object:
    found: Object = (authorizer.get("webhook") or {}).get("connectionInfo") or {}
    return found


def settings_of(authorizer: Object) -> WebhookSettings:
    """Of one that has been found valid."""
    said = authorizer["webhook"]
    keeps, keeps_no = (said.get(f"cache{what}Requests") is not False for what in ("Authorized", "Unauthorized"))
    return WebhookSettings(
        authorizer["name"],
        said["subjectAccessReviewVersion"],
        _seconds(said, "authorizedTTL", 300.0) if keeps else 0.0,
        _seconds(said, "unauthorizedTTL", 30.0) if keeps_no else 0.0,
        _seconds(said, "timeout", 0.0),
        said["failurePolicy"] == "Deny",
        tuple(each["expression"] for each in said.get("matchConditions") or ()),
    )


def kubeconfig_of(authorizer: Object) -> Path:
    return Path(_connection(authorizer)["kubeConfigFile"])


def _seconds(said: Object, name: str, usual: float) -> float:
    """What is zero counts as not said."""
    text = said.get(name)
    return (parse_duration(text) if text else 0.0) or usual


def check(found: Object, problems: Problems, *, known: Sequence[str] = MODES) -> None:
    """All that is wrong with a configuration."""
    authorizers = found.get("authorizers") or ()
    if not authorizers:
        problems.required("authorizers", "at least one authorization mode must be defined")
    types, names = set[str](), set[str]()
    for index, each in enumerate(authorizers):
        path, type_, name = f"authorizers[{index}]", each.get("type") or "", each.get("name") or ""
        if not type_:
            problems.required(f"{path}.type")
            continue
        if type_ not in known:
            problems.not_supported(f"{path}.type", type_, sorted(known))
            continue
        if type_ in types and type_ != WEBHOOK:
            problems.duplicate(f"{path}.type", type_)
            continue
        types.add(type_)
        if not name:
            problems.required(f"{path}.name")
        elif name in names:
            problems.duplicate(f"{path}.name", name)
        elif wrong := dns_subdomain(name):
            problems.invalid(f"{path}.name", name, f"authorizer name is invalid: {', '.join(wrong)}")
        names.add(name)
        webhook = each.get("webhook")
        if type_ != WEBHOOK:
            if webhook is not None:
                problems.invalid(f"{path}.webhook", "non-null", "may only be specified when type=Webhook")
        elif webhook is None:
            problems.required(f"{path}.webhook", "required when type=Webhook")
        else:
            check_webhook(webhook, path, problems)


def check_webhook(said: Object, path: str, problems: Problems) -> None:
    timeout = _seconds(said, "timeout", 0.0)
    if not timeout:
        problems.required(f"{path}.timeout")
    elif timeout > _LONGEST or timeout < 0:
        problems.invalid(f"{path}.timeout", duration_text(timeout), "must be > 0s and <= 30s")
    for name, usual in (("authorizedTTL", 300.0), ("unauthorizedTTL", 30.0)):
        if (seconds := _seconds(said, name, usual)) < 0:
            problems.invalid(f"{path}.{name}", duration_text(seconds), "must be > 0s")
    version, of_conditions = (
        said.get(name) or "" for name in ("subjectAccessReviewVersion", "matchConditionSubjectAccessReviewVersion")
    )
    if not version:
        problems.required(f"{path}.subjectAccessReviewVersion")
    elif version not in ("v1", "v1beta1"):
        problems.not_supported(f"{path}.subjectAccessReviewVersion", version, ["v1", "v1beta1"])
    conditions = said.get("matchConditions") or ()
    if not of_conditions and conditions:
        text = "required if match conditions are specified"
        problems.required(f"{path}.matchConditionSubjectAccessReviewVersion", text)
    elif of_conditions and of_conditions != "v1":
        problems.not_supported(f"{path}.matchConditionSubjectAccessReviewVersion", of_conditions, ["v1"])
    policy = said.get("failurePolicy") or ""
    if not policy:
        problems.required(f"{path}.failurePolicy")
    elif policy not in ("NoOpinion", "Deny"):
        problems.not_supported(f"{path}.failurePolicy", policy, ["NoOpinion", "Deny"])
    _check_connection(said.get("connectionInfo") or {}, f"{path}.connectionInfo", problems)
    check_conditions(conditions, f"{path}.matchConditions", problems)


def _check_connection(said: Object, path: str, problems: Problems) -> None:
    type_, file = said.get("type") or "", said.get("kubeConfigFile")
    if not type_:
        problems.required(f"{path}.type")
    elif type_ == _CONNECTIONS[0]:
        if file is not None:
            problems.invalid(f"{path}.kubeConfigFile", file, "can only be set when type=KubeConfigFile")
    elif type_ != _CONNECTIONS[1]:
        problems.not_supported(f"{path}.type", {"Type": type_, "KubeConfigFile": file}, list(_CONNECTIONS))
    elif not file:
        problems.required(f"{path}.kubeConfigFile")
    elif not file.startswith("/"):
        problems.invalid(f"{path}.kubeConfigFile", file, "must be an absolute path")
    else:
        try:
            if not stat.S_ISREG(Path(file).stat().st_mode):
                problems.invalid(f"{path}.kubeConfigFile", file, "must be a regular file")
        except OSError as error:
            why = f"error loading file: stat {file}: {(error.strerror or str(error)).lower()}"
            problems.invalid(f"{path}.kubeConfigFile", file, why)


def check_conditions(conditions: Sequence[Object], path: str, problems: Problems) -> None:
    if len(conditions) > _MOST:
        problems.too_many(path, len(conditions), _MOST)
        return
    seen = set[str]()
    for index, each in enumerate(conditions):
        at, expression = f"{path}[{index}].expression", each.get("expression") or ""
        if not expression.strip():
            problems.required(at)
        elif expression in seen:
            problems.duplicate(at, expression)
        else:
            seen.add(expression)
            try:
                compiled(expression)
            except CompileError as error:
                problems.invalid(at, expression, str(error))
