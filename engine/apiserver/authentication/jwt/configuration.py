"""An AuthenticationConfiguration: the form of its file, and what of it is wrong.

Sources: apiserver pkg/apis/apiserver/types.go, validation/validation.go; pkg/kubeapiserver/options/authentication.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography import x509

from engine.api.cel.environment import Program
from engine.api.cel.syntax import CompileError
from engine.api.errors import aggregated
from engine.api.golang import url
from engine.api.golang.forms import BOOL, STRING, Struct
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import domain_prefixed_path
from engine.apiserver.authentication.jwt.expressions import claim_rule, mapping, speaks_of, user_rule
from engine.apiserver.config_files import ConfigFileError, decoded

KIND = "AuthenticationConfiguration"
_SCHEME = "pkg/kubeapiserver/options/authentication.go"
_MOST = 64
_EITHER = "claim or expression is required"
_BOTH = "claim and expression can't both be set"
_PREFIX = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
_VERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression "
    "or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression"
)
_RESERVED = ("k8s.io", "kubernetes.io")
_RESERVED_TEXT = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
_PREFIXED = Struct("PrefixedClaimOrExpression", {"claim": STRING, "prefix": STRING, "expression": STRING})
_AUTHENTICATOR = Struct(
    "JWTAuthenticator",
    {
        "issuer": Struct(
            "Issuer",
            {
                "url": STRING,
                "discoveryURL": STRING,
                "certificateAuthority": STRING,
                "audiences": [STRING],
                "audienceMatchPolicy": STRING,
                "egressSelectorType": STRING,
            },
        ),
        "claimValidationRules": [
            Struct(
                "ClaimValidationRule",
                {"claim": STRING, "requiredValue": STRING, "expression": STRING, "message": STRING},
            )
        ],
        "claimMappings": Struct(
            "ClaimMappings",
            {
                "username": _PREFIXED,
                "groups": _PREFIXED,
                "uid": Struct("ClaimOrExpression", {"claim": STRING, "expression": STRING}),
                "extra": [Struct("ExtraMapping", {"key": STRING, "valueExpression": STRING})],
            },
        ),
        "userValidationRules": [Struct("UserValidationRule", {"expression": STRING, "message": STRING})],
    },
)
_FORM = Struct(
    KIND,
    {
        "kind": STRING,
        "apiVersion": STRING,
        "jwt": [_AUTHENTICATOR],
        "anonymous": Struct(
            "AnonymousAuthConfig",
            {"enabled": BOOL, "conditions": [Struct("AnonymousAuthCondition", {"path": STRING})]},
        ),
    },
)


def load_configuration(file: Path, *, issuers: Sequence[str]) -> Object:
    """`issuers` are those that this server signs tokens as. Raises ConfigFileError."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise _unloaded(file, f"open {file}: {(error.strerror or str(error)).lower()}") from error
    if not text:
        raise _unloaded(file, "empty config data")
    try:
        found = decoded(text, KIND, _FORM, scheme=_SCHEME)
    except ConfigFileError as error:
        raise _unloaded(file, str(error)) from error
    check_configuration(found, issuers=issuers)
    return found


def check_configuration(found: Object, *, issuers: Sequence[str]) -> None:
    """Raises ConfigFileError."""
    problems = Problems()
    check(found, problems, issuers)
    if problems:
        raise ConfigFileError(f"invalid authentication configuration: {aggregated(map(str, problems))}")


def _unloaded(file: Path, why: str) -> ConfigFileError:
    return ConfigFileError(f'failed to load authentication configuration from file "{file}": {why}')


def check(found: Object, problems: Problems, issuers: Sequence[str] = ()) -> None:
    """All that is wrong with a configuration."""
    listed = found.get("jwt") or ()
    if len(listed) > _MOST:
        problems.too_many("jwt", len(listed), _MOST)
        return
    urls, discovery_urls = set[str](), set[str]()
    for index, each in enumerate(listed):
        path, issuer = f"jwt[{index}]", (each or {}).get("issuer") or {}
        check_authenticator(each or {}, path, problems, issuers)
        at, where = issuer.get("url") or "", issuer.get("discoveryURL") or ""
        if at in urls:
            problems.duplicate(f"{path}.issuer.url", at)
        urls.add(at)
        if where and where in discovery_urls:
            problems.duplicate(f"{path}.issuer.discoveryURL", where)
        discovery_urls.add(where)
    anonymous = found.get("anonymous")
    if anonymous is not None and not anonymous.get("enabled") and anonymous.get("conditions"):
        shown = [{"Path": each.get("path") or ""} for each in anonymous["conditions"]]
        text = "enabled should be set to true when conditions are defined"
        problems.invalid("anonymous.conditions", shown, text)


def check_authenticator(said: Object, path: str, problems: Problems, issuers: Sequence[str] = ()) -> None:
    check_issuer(said.get("issuer") or {}, f"{path}.issuer", problems, issuers)
    rules = said.get("claimValidationRules") or ()
    programs = _check_claim_rules(rules, f"{path}.claimValidationRules", problems)
    mappings = said.get("claimMappings") or {}
    _check_mappings(mappings, f"{path}.claimMappings", problems, programs)
    _check_user_rules(said.get("userValidationRules") or (), f"{path}.userValidationRules", problems)


# -- issuers


def check_issuer(said: Object, path: str, problems: Problems, issuers: Sequence[str] = ()) -> None:
    at, where = said.get("url") or "", said.get("discoveryURL") or ""
    if at:
        _check_url(at, f"{path}.url", problems, issuers)
    else:
        problems.required(f"{path}.url")
    if where:
        if at and at.rstrip("/") == where.rstrip("/"):
            problems.invalid(f"{path}.discoveryURL", where, "discoveryURL must be different from URL")
        _check_url(where, f"{path}.discoveryURL", problems, ())
    _check_audiences(said.get("audiences") or [], said.get("audienceMatchPolicy") or "", path, problems)
    if authority := said.get("certificateAuthority"):
        try:
            x509.load_pem_x509_certificates(authority.encode())
        except ValueError:
            why = "data does not contain any valid RSA or ECDSA certificates"
            problems.invalid(f"{path}.certificateAuthority", "<omitted>", why)
    if (selector := said.get("egressSelectorType")) and selector not in ("controlplane", "cluster"):
        text = "egress selector must be either controlplane or cluster"
        problems.invalid(f"{path}.egressSelectorType", selector, text)


def _check_url(text: str, path: str, problems: Problems, issuers: Sequence[str]) -> None:
    if text in issuers:
        listed = " ".join(sorted(set(issuers)))
        problems.invalid(path, text, f"URL must not overlap with disallowed issuers: [{listed}]")
    try:
        parsed = url.parse(text)
    except ValueError as error:
        problems.invalid(path, text, str(error))
        return
    if parsed.scheme != "https":
        problems.invalid(path, text, "URL scheme must be https")
    for found, what in (
        (parsed.user, "a username or password"),
        (parsed.query, "a query"),
        (parsed.fragment, "a fragment"),
    ):
        if found:
            problems.invalid(path, text, f"URL must not contain {what}")


def _check_audiences(audiences: list[str], policy: str, path: str, problems: Problems) -> None:
    if not audiences:
        problems.required(f"{path}.audiences", f"at least one {path}.audiences is required")
        return
    seen = set[str]()
    for index, audience in enumerate(audiences):
        at = f"{path}.audiences[{index}]"
        if not audience:
            problems.required(at)
        if audience in seen:
            problems.duplicate(at, audience)
        seen.add(audience)
    if len(audiences) > 1 and policy != "MatchAny":
        text = "audienceMatchPolicy must be MatchAny for multiple audiences"
        problems.invalid(f"{path}.audienceMatchPolicy", policy, text)
    if len(audiences) == 1 and policy not in ("", "MatchAny"):
        text = "audienceMatchPolicy must be empty or MatchAny for single audience"
        problems.invalid(f"{path}.audienceMatchPolicy", policy, text)


# -- claims and users


def _compiled(expression: str, path: str, problems: Problems, make: Callable[[str], Program]) -> Program | None:
    try:
        return make(expression)
    except CompileError as error:
        problems.invalid(path, expression, str(error))
        return None


def _check_claim_rules(rules: Sequence[Object], path: str, problems: Problems) -> list[Program]:
    claims, expressions, programs = set[str](), set[str](), list[Program]()
    for index, rule in enumerate(rules):
        at, claim, expression = f"{path}[{index}]", rule.get("claim") or "", rule.get("expression") or ""
        if claim and expression:
            problems.invalid(at, claim, _BOTH)
        elif not claim and not expression:
            problems.required(at, _EITHER)
        elif claim:
            if message := rule.get("message"):
                problems.invalid(f"{at}.message", message, "may not be specified when claim is set")
            if claim in claims:
                problems.duplicate(f"{at}.claim", claim)
            claims.add(claim)
        else:
            if value := rule.get("requiredValue"):
                problems.invalid(f"{at}.requiredValue", value, "may not be specified when expression is set")
            if expression in expressions:
                problems.duplicate(f"{at}.expression", expression)
                continue
            expressions.add(expression)
            program = _compiled(expression, f"{at}.expression", problems, claim_rule)
            programs += [program] if program is not None else []
    return programs


def _check_mappings(said: Object, path: str, problems: Problems, rules: Sequence[Program]) -> None:
    username = said.get("username") or {}
    before = len(problems)
    of_name = _check_prefixed(username, f"{path}.username", problems, required=True)
    of_name = of_name if len(problems) == before else None
    _check_prefixed(said.get("groups") or {}, f"{path}.groups", problems, required=False)
    uid = said.get("uid") or {}
    if uid.get("claim") and uid.get("expression"):
        problems.invalid(f"{path}.uid", "", _BOTH)
    elif uid.get("expression"):
        _compiled(uid["expression"], f"{path}.uid.expression", problems, mapping)
    extra = _check_extra(said.get("extra") or (), f"{path}.extra", problems)
    if of_name is None or not speaks_of(of_name, "email"):
        return
    if not any(speaks_of(each, "email_verified") for each in (of_name, *rules, *extra)):
        problems.invalid(f"{path}.username.expression", username["expression"], _VERIFIED)


def _check_prefixed(said: Object, path: str, problems: Problems, *, required: bool) -> Program | None:
    claim, expression, prefix = said.get("claim") or "", said.get("expression") or "", said.get("prefix")
    if claim and expression:
        problems.invalid(path, "", _BOTH)
    elif expression:
        if prefix is not None:
            problems.invalid(f"{path}.prefix", prefix, "may not be specified when expression is set")
        return _compiled(expression, f"{path}.expression", problems, mapping)
    elif claim:
        if prefix is None:
            problems.required(f"{path}.prefix", _PREFIX)
    elif required:
        problems.required(path, _EITHER)
    return None


def _check_extra(extra: Sequence[Object], path: str, problems: Problems) -> list[Program]:
    seen, programs = set[str](), list[Program]()
    for index, each in enumerate(extra):
        at, key, expression = f"{path}[{index}]", each.get("key") or "", each.get("valueExpression") or ""
        if not key:
            problems.required(f"{at}.key")
        else:
            for value, why in domain_prefixed_path(key):
                problems.invalid(f"{at}.key", value, why)
        if key != key.lower():
            problems.invalid(f"{at}.key", key, "must be lowercase")
        domain, slash, _ = key.partition("/")
        if slash and any(domain == each or domain.endswith(f".{each}") for each in _RESERVED):
            problems.invalid(f"{at}.key", key, _RESERVED_TEXT)
        if key in seen:
            problems.duplicate(f"{at}.key", key)
            continue
        seen.add(key)
        if not expression:
            problems.required(f"{at}.valueExpression")
            continue
        program = _compiled(expression, f"{at}.valueExpression", problems, mapping)
        programs += [program] if program is not None else []
    return programs


def _check_user_rules(rules: Sequence[Object], path: str, problems: Problems) -> None:
    seen = set[str]()
    for index, rule in enumerate(rules):
        at, expression = f"{path}[{index}].expression", rule.get("expression") or ""
        if not expression:
            problems.required(at)
        elif expression in seen:
            problems.duplicate(at, expression)
        else:
            seen.add(expression)
            _compiled(expression, at, problems, user_rule)
