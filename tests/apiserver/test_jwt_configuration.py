"""What is wrong with an AuthenticationConfiguration (apiserver pkg/apis/apiserver/validation validation_test.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.apiserver.authentication.jwt.configuration import check, check_authenticator, check_issuer
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions

ISSUER = {"url": "https://issuer-url", "audiences": ["audience"]}
NAME = {"claim": "sub", "prefix": "prefix"}
UNVERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or "
    "claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression"
)
FOO = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo.bar\n | ^"
BOTH = "claim and expression can't both be set"


def told(problems: Problems) -> list[str]:
    return [str(each) for each in problems]


ISSUERS: dict[str, tuple[Object, list[str]]] = {
    "no url": ({"url": ""}, ["url: Required value"]),
    "a port that is none": (
        {"url": "https://issuer-url:invalid-port"},
        [
            'url: Invalid value: "https://issuer-url:invalid-port": parse "https://issuer-url:invalid-port": '
            'invalid port '
            '":invalid-port" after host'
        ],
    ),
    "another scheme": ({"url": "http://i"}, ['url: Invalid value: "http://i": URL scheme must be https']),
    "a user": (
        {"url": "https://user:pass@issuer-url"},
        ['url: Invalid value: "https://user:pass@issuer-url": URL must not contain a username or password'],
    ),
    "a query": ({"url": "https://i?q"}, ['url: Invalid value: "https://i?q": URL must not contain a query']),
    "a fragment": ({"url": "https://i#f"}, ['url: Invalid value: "https://i#f": URL must not contain a fragment']),
    "the server's own": (
        {"url": "https://own"},
        ['url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://a https://own]'],
    ),
    "a discovery URL": ({"discoveryURL": "https://oidc.svc/.well-known/openid-configuration"}, []),
    "one that is the server's own": ({"discoveryURL": "https://own"}, []),
    "the same as its discovery URL": (
        {"discoveryURL": "https://issuer-url///"},
        ['discoveryURL: Invalid value: "https://issuer-url///": discoveryURL must be different from URL'],
    ),
    "no audience": ({"audiences": []}, ["audiences: Required value: at least one issuer.audiences is required"]),
    "an empty audience": ({"audiences": [""]}, ["audiences[0]: Required value"]),
    "how audiences match": (
        {"audienceMatchPolicy": "MatchExact"},
        [
            'audienceMatchPolicy: Invalid value: "MatchExact": audienceMatchPolicy must be empty or MatchAny for '
            'single '
            "audience"
        ],
    ),
    "two audiences": ({"audiences": ["a", "b"], "audienceMatchPolicy": "MatchAny"}, []),
    "two audiences that do not match any": (
        {"audiences": ["a", "b"]},
        ['audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences'],
    ),
    "the same audience": (
        {"audiences": ["a", "a"], "audienceMatchPolicy": "MatchAny"},
        ['audiences[1]: Duplicate value: "a"'],
    ),
    "an authority that is none": (
        {"certificateAuthority": "invalid"},
        [
            'certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA '
            'certificates'
        ],
    ),
    "a selector": ({"egressSelectorType": "cluster"}, []),
    "another selector": (
        {"egressSelectorType": "panda"},
        ['egressSelectorType: Invalid value: "panda": egress selector must be either controlplane or cluster'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ISSUERS)
def test_issuers(name: str) -> None:
    said, wrong = ISSUERS[name]
    problems = Problems()
    check_issuer({**ISSUER, **said}, "issuer", problems, ("https://own", "https://a"))
    assert told(problems) == [f"issuer.{each}" for each in wrong]


def _rules(*rules: Object) -> Object:
    return {"claimValidationRules": list(rules)}


def _users(*expressions: str) -> Object:
    return {"userValidationRules": [{"expression": each} for each in expressions]}


def _mapped(**mappings: Any) -> Object:
    return {"claimMappings": {"username": NAME, **mappings}}


def _email(expression: str, **more: Any) -> Object:
    return {**_mapped(username={"expression": expression}), **more}


def _key(key: str, why: str) -> tuple[Object, list[str]]:
    extra = [{"key": key, "valueExpression": "claims.extra"}]
    return _mapped(extra=extra), [f'claimMappings.extra[0].key: Invalid value: "{key}": {why}']


_RESERVED = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
_VERIFIED = "claims.?email_verified.orValue(true) == true"
AUTHENTICATORS: dict[str, tuple[Object, list[str]]] = {
    "nothing": ({}, []),
    "a rule of nothing": (_rules({}), ["claimValidationRules[0]: Required value: claim or expression is required"]),
    "a rule of both": (
        _rules({"claim": "claim", "expression": "expression"}),
        [f'claimValidationRules[0]: Invalid value: "claim": {BOTH}'],
    ),
    "a claim with a message": (
        _rules({"claim": "claim", "message": "message"}),
        ['claimValidationRules[0].message: Invalid value: "message": may not be specified when claim is set'],
    ),
    "an expression with a value": (
        _rules({"expression": "claims.foo == 'bar'", "requiredValue": "value"}),
        ['claimValidationRules[0].requiredValue: Invalid value: "value": may not be specified when expression is set'],
    ),
    "a claim twice": (_rules({"claim": "c"}, {"claim": "c"}), ['claimValidationRules[1].claim: Duplicate value: "c"']),
    "an expression twice": (
        _rules({"expression": "claims.a == 'b'"}, {"expression": "claims.a == 'b'"}),
        ['claimValidationRules[1].expression: Duplicate value: "claims.a == \'b\'"'],
    ),
    "what is no expression": (
        _rules({"expression": "foo.bar"}),
        [f'claimValidationRules[0].expression: Invalid value: "foo.bar": {FOO}'],
    ),
    "what is no boolean": (
        _rules({"expression": "claims.foo"}),
        ['claimValidationRules[0].expression: Invalid value: "claims.foo": must evaluate to bool'],
    ),
    "a name of both": (
        _mapped(username={"claim": "a", "expression": "claims.a"}),
        [f'claimMappings.username: Invalid value: "": {BOTH}'],
    ),
    "no name": (_mapped(username={}), ["claimMappings.username: Required value: claim or expression is required"]),
    "an expression with a prefix": (
        _mapped(username={"prefix": "p", "expression": "claims.a"}),
        ['claimMappings.username.prefix: Invalid value: "p": may not be specified when expression is set'],
    ),
    "a claim without a prefix": (
        _mapped(groups={"claim": "a"}),
        [
            "claimMappings.groups.prefix: Required value: prefix is required when claim is set. It can be set to "
            "an empty "
            "string to disable prefixing"
        ],
    ),
    "groups of both": (
        _mapped(groups={"claim": "a", "expression": "claims.a"}),
        [f'claimMappings.groups: Invalid value: "": {BOTH}'],
    ),
    "a uid of both": (
        _mapped(uid={"claim": "a", "expression": "claims.a"}),
        [f'claimMappings.uid: Invalid value: "": {BOTH}'],
    ),
    "a uid that is no expression": (
        _mapped(uid={"expression": "foo.bar"}),
        [f'claimMappings.uid.expression: Invalid value: "foo.bar": {FOO}'],
    ),
    "no key": (_mapped(extra=[{"valueExpression": "claims.a"}]), ["claimMappings.extra[0].key: Required value"]),
    "no value": (_mapped(extra=[{"key": "a.b/c"}]), ["claimMappings.extra[0].valueExpression: Required value"]),
    "a value that is no expression": (
        _mapped(extra=[{"key": "a.b/c", "valueExpression": "foo.bar"}]),
        [f'claimMappings.extra[0].valueExpression: Invalid value: "foo.bar": {FOO}'],
    ),
    "a key twice": (
        _mapped(extra=[{"key": "a.b/c", "valueExpression": "claims.a"}, {"key": "a.b/c", "valueExpression": "'a'"}]),
        ['claimMappings.extra[1].key: Duplicate value: "a.b/c"'],
    ),
    "a key without a domain": _key("foo", 'must be a domain-prefixed path (such as "acme.io/foo")'),
    "a key with capitals": _key("example.org/Foo", "must be lowercase"),
    "a key of ours": _key("k8s.io/foo", _RESERVED),
    "a key below ours": _key("example.kubernetes.io/foo", _RESERVED),
    "no user rule": (_users(""), ["userValidationRules[0].expression: Required value"]),
    "a user rule twice": (
        _users("user.username == 'foo'", "user.username == 'foo'"),
        ['userValidationRules[1].expression: Duplicate value: "user.username == \'foo\'"'],
    ),
    "a user rule that is no boolean": (
        _users("user.username"),
        ['userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool'],
    ),
    **{
        f"unverified: {expression}": (
            _email(expression),
            [f'claimMappings.username.expression: Invalid value: {shown}: {UNVERIFIED}'],
        )
        for expression, shown in {
            "claims.email": '"claims.email"',
            "claims.?email": '"claims.?email"',
            "claims.email.trim()": '"claims.email.trim()"',
            '{claims.?email: "panda"}': r'"{claims.?email: \"panda\"}"',
            "has(claims.email) ? claims.email : claims.sub": '"has(claims.email) ? claims.email : claims.sub"',
            '["a"].map(i, i + claims.email)': r'"[\"a\"].map(i, i + claims.email)"',
        }.items()
    },
    "verified by a rule": (_email("claims.email", **_rules({"expression": _VERIFIED})), []),
    "verified by itself": (_email("claims.email_verified ? claims.email : claims.sub"), []),
    "verified by an extra value": (
        {
            "claimMappings": {
                "username": {"expression": "claims.email"},
                "extra": [{"key": "a.b/c", "valueExpression": "string(claims.email_verified)"}],
            }
        },
        [],
    ),
    "an email of another": (_email("claims.foo.email"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", AUTHENTICATORS)
def test_authenticators(name: str) -> None:
    said, wrong = AUTHENTICATORS[name]
    problems = Problems()
    check_authenticator({"issuer": ISSUER, **_mapped(), **said}, "jwt[0]", problems)
    assert told(problems) == [f"jwt[0].{each}" for each in wrong]


def test_many_issuers() -> None:
    one: Object = {"issuer": {**ISSUER, "discoveryURL": "https://d/c"}, **_mapped()}
    problems = Problems()
    check({"jwt": [one, one]}, problems)
    assert told(problems) == [
        'jwt[1].issuer.url: Duplicate value: "https://issuer-url"',
        'jwt[1].issuer.discoveryURL: Duplicate value: "https://d/c"',
    ]
    problems = Problems()
    check({"jwt": [one] * 65}, problems)
    assert told(problems) == ["jwt: Too many: 65: must have at most 64 items"]
    problems = Problems()
    check({"anonymous": {"enabled": False, "conditions": [{"path": "/livez"}]}}, problems)
    assert told(problems) == [
        'anonymous.conditions: Invalid value: [{"Path":"/livez"}]: enabled should be set to true when conditions are '
        "defined"
    ]


HEAD = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
UNLOADED = '--authentication-config: failed to load authentication configuration from file "{0}": '


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (None, {}, UNLOADED + "open {0}: no such file or directory"),
        ("", {}, UNLOADED + "empty config data"),
        (
            yaml.safe_dump({**HEAD, "jwts": []}),
            {},
            UNLOADED + 'strict decoding error: unknown field "jwts"',
        ),
        (
            yaml.safe_dump({**HEAD, "jwt": [{"issuer": {"url": 1}}]}),
            {},
            UNLOADED + "json: cannot unmarshal number into Go struct field Issuer.jwt.issuer.url of type string",
        ),
        (
            yaml.safe_dump({**HEAD, "jwt": [{"issuer": {"url": "https://i", "audiences": ["a"]}}]}),
            {},
            "--authentication-config: invalid authentication configuration: jwt[0].claimMappings.username: "
            "Required value: "
            "claim or expression is required",
        ),
        (
            yaml.safe_dump({**HEAD, "anonymous": {"enabled": True}}),
            {"anonymous_auth": "false"},
            "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in "
            "authentication configuration file",
        ),
        (
            yaml.safe_dump(HEAD),
            {"oidc_client_id": "a"},
            "authentication-config file and oidc-* flags are mutually exclusive",
        ),
        (
            yaml.safe_dump({**HEAD, "jwt": [{"issuer": {**ISSUER, "egressSelectorType": "cluster"}, **_mapped()}]}),
            {},
            '--authentication-config: oidc: egress lookup required with egress selector type "cluster"',
        ),
    ],
)
def test_files_that_no_server_starts_with(tmp_path: Path, text: str | None, options: dict[str, str], why: str) -> None:
    file = tmp_path / "authentication.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(authentication_config=str(file), **options))  # type: ignore[arg-type]
    assert str(caught.value) == why.format(file)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            {"issuer_url": "https://i"},
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
        ),
        (
            {"groups_claim": "g"},
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
        ),
        (
            {"issuer_url": "http://i", "client_id": "a"},
            'invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://i": URL scheme must '
            "be https",
        ),
        (
            {"issuer_url": "https://i", "client_id": "a", "signing_algs": "HS256"},
            'oidc: unsupported signing alg: "HS256"',
        ),
        (
            {"issuer_url": "https://i", "client_id": "a", "ca_file": "/none"},
            "--oidc-ca-file: open /none: no such file or directory",
        ),
        (
            {"issuer_url": "https://i", "client_id": "a", "required_claim": "a"},
            "--oidc-required-claim: malformed pair, expect string=string: a",
        ),
    ],
)
def test_flags_that_no_server_starts_with(options: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(**{f"oidc_{name}": value for name, value in options.items()}))  # type: ignore[arg-type]
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("options", "prefix"),
    [
        ({}, "https://i#"),
        ({"username_claim": "email"}, ""),
        ({"username_prefix": "-"}, ""),
        ({"username_prefix": "oidc:", "username_claim": "email"}, "oidc:"),
    ],
)
def test_the_prefix_of_names(options: dict[str, str], prefix: str) -> None:
    given = {"issuer_url": "https://i", "client_id": "a", **options}
    config = configure(UpOptions(**{f"oidc_{name}": value for name, value in given.items()}))  # type: ignore[arg-type]
    assert config.oidc is not None
    assert config.oidc["claimMappings"]["username"]["prefix"] == prefix
