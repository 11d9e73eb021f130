"""Questions to the authorizer and the authenticator: what they must be, and what they are answered."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from engine.api.errors import ApiError
from engine.api.types import GVR, NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.apiserver.actions.review_rules import access_causes
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from tests.apiserver.conftest import pod
from tests.apiserver.test_policies import validating

AUTHORIZATION = "authorization.k8s.io"
ISSUER = "https://kubernetes.default.svc.cluster.local"
PLURALS = {
    "SubjectAccessReview": "subjectaccessreviews",
    "SelfSubjectAccessReview": "selfsubjectaccessreviews",
    "LocalSubjectAccessReview": "localsubjectaccessreviews",
}
_PODS: Object = {"verb": "list", "resource": "pods", "namespace": "default"}
_PATH: Object = {"verb": "get", "path": "/version"}

# The kind, its spec, its metadata -> what is wrong with it.
REFUSED: dict[str, tuple[str, Object, Object, list[str]]] = {
    "nothing asked": (
        "SubjectAccessReview", {"user": "jane"}, {},
        ["spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"],
    ),
    "both asked": (
        "SelfSubjectAccessReview", {"resourceAttributes": _PODS, "nonResourceAttributes": _PATH}, {},
        ['spec: Invalid value: {"Path":"/version","Verb":"get"}: exactly one of nonResourceAttributes or '
         "resourceAttributes must be specified"],
    ),
    "of nobody": (
        "SubjectAccessReview", {"resourceAttributes": _PODS}, {},
        ['spec.user: Invalid value: "": at least one of user or group must be specified'],
    ),
    "with a name": (
        "SubjectAccessReview", {"user": "jane", "resourceAttributes": _PODS}, {"name": "a"},
        ["metadata: Invalid value: ", "must be empty"],
    ),
    "local with a name": (
        "LocalSubjectAccessReview", {"user": "jane", "resourceAttributes": _PODS}, {"name": "a"},
        ["must be empty except for namespace"],
    ),
    "local of another namespace": (
        "LocalSubjectAccessReview", {"user": "jane", "resourceAttributes": {**_PODS, "namespace": "other"}}, {},
        ['spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'],
    ),
    "local of a path": (
        "LocalSubjectAccessReview", {"user": "jane", "nonResourceAttributes": _PATH}, {},
        ["disallowed on this kind of request"],
    ),
    "an empty selector": (
        "SelfSubjectAccessReview", {"resourceAttributes": {**_PODS, "fieldSelector": {}}}, {},
        ["spec.resourceAttributes.fieldSelector.requirements: Required value: when "
         "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required"],
    ),
    "labels that are none": (
        "SelfSubjectAccessReview",
        {"resourceAttributes": {**_PODS, "labelSelector": {"requirements": [
            {"key": "()a", "operator": "Odd"}, {"key": "a", "operator": "In", "values": ["-b"]},
        ]}}}, {},
        ['spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: "()a": name part must consist of '
         "alphanumeric characters",
         'spec.resourceAttributes.labelSelector.requirements[1].values[0]: Invalid value: "-b": a valid label must be '
         "an empty string or consist of"],
    ),
    "a selector said twice": (
        "SelfSubjectAccessReview",
        {"resourceAttributes": {**_PODS, "labelSelector": {
            "rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}],
        }}}, {},
        ['spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a=b": may not specified at the same time '
         "as requirements"],
    ),
    "a requirement without values": (
        "SelfSubjectAccessReview",
        {"resourceAttributes": {**_PODS, "fieldSelector": {"requirements": [{"key": "a", "operator": "In"}]}}}, {},
        ["spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when "
         "`operator` is 'In' or 'NotIn'"],
    ),
}  # fmt: skip


async def ask(client: Client, kind: str, spec: Object, metadata: Object) -> Object:
    review = {"apiVersion": f"{AUTHORIZATION}/v1", "kind": kind, "metadata": metadata, "spec": spec}
    namespace = "default" if kind.startswith("Local") else None
    return await client.create(GVR(AUTHORIZATION, "v1", PLURALS[kind]), review, namespace=namespace)


@pytest.mark.parametrize("name", REFUSED)
async def test_a_review_is_refused(name: str, client: Client) -> None:
    kind, spec, metadata, texts = REFUSED[name]
    with pytest.raises(ApiError) as caught:
        await ask(client, kind, spec, metadata)
    assert caught.value.code == 422
    assert caught.value.message.startswith(f'{kind}.{AUTHORIZATION} "" is invalid: ')
    for text in texts:
        assert text in caught.value.message


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({}, "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes "
             "must be specified"),
        ({"resourceAttributes": _PODS, "nonResourceAttributes": _PATH},
         'spec.nonResourceAttributes: Invalid value: {"Path":"/version","Verb":"get"}: cannot be specified in '
         "combination with resourceAttributes"),
    ],
)  # fmt: skip
def test_before_1_37_the_attributes_themselves_were_wrong(spec: Object, told: str) -> None:
    review = {"kind": "SelfSubjectAccessReview", "spec": spec}
    assert [str(cause) for cause in access_causes(review, "", (1, 36))] == [told]


async def test_a_node_may_list_its_own_pods_alone(client: Client) -> None:
    """The selector of a review is what the Node authorizer looks at."""
    of_node = {"verb": "list", "resource": "pods"}
    for selector, allowed in (
        ({"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]}, True),
        ({"rawSelector": "spec.nodeName=a"}, True),
        ({"rawSelector": "spec.nodeName=b"}, False),
        ({"requirements": [{"key": "spec.nodeName", "operator": "Exists"}]}, False),
    ):
        spec = {
            "user": "system:node:a",
            "groups": ["system:nodes"],
            "resourceAttributes": {**of_node, "fieldSelector": selector},
        }
        assert (await ask(client, "SubjectAccessReview", spec, {}))["status"]["allowed"] is allowed, selector


# -- tokens


async def request_token(
    client: Client, account: str = "default", metadata: Object | None = None, **spec: Any
) -> Object:
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    if metadata:
        request["metadata"] = metadata
    return await client.create(SERVICE_ACCOUNTS, request, namespace="default", name=account, subresource="token")


async def review_token(client: Client, token: str, *audiences: str) -> Object:
    spec = {"token": token, "audiences": list(audiences)}
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
    status: Object = (await client.create(GVR("authentication.k8s.io", "v1", "tokenreviews"), review))["status"]
    return status


_HOOK: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "name": "a",
}
REQUESTS: dict[str, tuple[Object, Object, int, str]] = {
    "for another kind": (
        {"boundObjectRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}, {}, 400,
        "cannot bind token to object of type apps/v1, Kind=Deployment",
    ),
    "for a Pod that there is not": (
        {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "gone"}}, {}, 404, 'pods "gone" not found',
    ),
    "for a Pod of another account": (
        {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web"}}, {"account": "other"}, 400,
        'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    ),
    "for a Pod of another account and another uid": (
        {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "x"}}, {"account": "other"}, 400,
        'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    ),
    "for another Pod of that name": (
        {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "x"}}, {}, 409,
        'Operation cannot be fulfilled on Pod "web": the UID in the bound object reference (x) does not match the UID '
        "in record. The object might have been deleted and then recreated",
    ),
    "too short": (
        {"expirationSeconds": 599}, {}, 422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify '
        "a duration less than 10 minutes",
    ),
    "too long": (
        {"expirationSeconds": (1 << 32) + 1}, {}, 422, "may not specify a duration larger than 2^32 seconds",
    ),
    "for a webhook": (
        {"boundObjectRef": _HOOK, "attestations": {"admissionReviewAPIGroups": ["apps"]}}, {}, 400,
        "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=MutatingWebhookConfiguration "
        "(feature gate APIServerWebhookAuthenticationToken is disabled)",
    ),
    "for a webhook that nothing is attested to": (
        {"boundObjectRef": _HOOK, "audiences": ["a", "b"]}, {}, 422,
        'spec.audiences: Invalid value: ["a","b"]: must be length 1 when bound to a webhook config, spec.attestations: '
        "Invalid value: null: webhook bound requests require exactly one admissionReviewAPIGroups attestation",
    ),
    "for a webhook, of two groups": (
        {"boundObjectRef": _HOOK, "attestations": {"admissionReviewAPIGroups": ["apps", "batch"]}}, {}, 422,
        'spec.attestations[admissionReviewAPIGroups]: Invalid value: ["apps","batch"]: must specify a single value',
    ),
    "for a webhook, of the group of the core": (
        {"boundObjectRef": _HOOK, "attestations": {"admissionReviewAPIGroups": [""]}}, {}, 422,
        'spec.attestations[admissionReviewAPIGroups][0]: Invalid value: "": may not be an empty string',
    ),
    "for a webhook, of a group that is none": (
        {"boundObjectRef": _HOOK, "attestations": {"admissionReviewAPIGroups": ["A"]}}, {}, 422,
        '[0]: Invalid value: "A": must specify a valid API Group: a lowercase RFC 1123 subdomain must consist of',
    ),
    "for a webhook, of something else": (
        {"boundObjectRef": _HOOK, "attestations": {"odd": ["a"]}}, {}, 422,
        'spec.attestations[odd]: Unsupported value: "odd": supported values: "admissionReviewAPIGroups"',
    ),
    "attested to nobody": (
        {"attestations": {"b": ["c"], "a": []}, "expirationSeconds": 1}, {}, 422,
        'is invalid: spec.attestations: Invalid value: {"a":[],"b":["c"]}: attestations may only be specified with a '
        "webhook bound object reference",
    ),
    "for another name": (
        {}, {"metadata": {"name": "other"}}, 422,
        'TokenRequest.authentication.k8s.io "default" is invalid: metadata.name: Invalid value: "other": must match '
        "the service account name if specified",
    ),
    "for another name of no account": ({}, {"account": "gone", "metadata": {"name": "other"}}, 422, "metadata.name"),
    "of no account": ({}, {"account": "gone"}, 404, 'serviceaccounts "gone" not found'),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_token_is_refused(name: str, client: Client, default_account: Object) -> None:
    spec, more, code, text = REQUESTS[name]
    other = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "other"}}
    await client.create(SERVICE_ACCOUNTS, other, namespace="default")
    await client.create(PODS, pod(), namespace="default")
    with pytest.raises(ApiError) as caught:
        await request_token(client, **more, **spec)
    assert caught.value.code == code
    assert text in caught.value.message


async def test_a_request_for_a_token_is_admitted_as_it_will_be(client: Client, default_account: Object) -> None:
    told = "object.metadata.name + ' ' + object.spec.audiences[0] + ' ' + string(object.spec.expirationSeconds)"
    on_tokens = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"]}
    rules = {"resourceRules": [{**on_tokens, "resources": ["serviceaccounts/token"]}]}
    only_labelled = {"expression": "has(object.metadata.labels)", "messageExpression": told}
    await validating(client, only_labelled, matchConstraints=rules)
    with pytest.raises(ApiError, match=f"denied request: default {ISSUER} 3600"):
        await request_token(client)
    made = await request_token(client, metadata={"labels": {"a": "b"}})
    assert made["metadata"].pop("managedFields")
    assert made["metadata"] == {
        "labels": {"a": "b"},
        "name": "default",
        "namespace": "default",
        "uid": default_account["metadata"]["uid"],
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }


async def test_a_token_is_for_its_audiences(client: Client, default_account: Object) -> None:
    made = await request_token(client, audiences=["vault", "other"])
    token = made["status"]["token"]
    good = await review_token(client, token, "vault", "else")
    assert (good["authenticated"], good["audiences"]) == (True, ["vault"])
    bad = await review_token(client, token)
    assert bad == {
        "user": {},
        "error": "[invalid bearer token, token audiences "
        f'["vault" "other"] is invalid for the target audiences ["{ISSUER}"]]',
    }
    own = (await request_token(client))["status"]["token"]
    assert (await review_token(client, own, "vault")) == {
        "user": {},
        "error": f'[invalid bearer token, token audiences ["{ISSUER}"] is invalid for the target audiences ["vault"]]',
    }
    plain = await review_token(client, own)
    assert (plain["audiences"], plain["user"]["groups"]) == (
        [ISSUER],
        ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    )


async def test_what_holds_an_object_back_keeps_no_token_good(
    client: Client, default_account: Object, virtual_clock: VirtualClock
) -> None:
    """pkg/serviceaccount claims_test.go: what was to be gone more than a minute ago is."""
    held = pod()
    held["metadata"]["finalizers"] = ["example.com/held"]
    secret = {"metadata": {"name": "s", "finalizers": ["example.com/held"]}}
    await client.create(PODS, held, namespace="default")
    await client.create(SECRETS, secret, namespace="default")
    targets = ({"apiVersion": "v1", "kind": "Pod", "name": "web"}, {"apiVersion": "v1", "kind": "Secret", "name": "s"})
    tokens = [
        (await request_token(client, expirationSeconds=7200, boundObjectRef=each))["status"]["token"]
        for each in targets
    ]
    of_account = (await request_token(client, expirationSeconds=7200))["status"]["token"]
    holding = {"metadata": {"finalizers": ["example.com/held"]}}
    await client.patch(SERVICE_ACCOUNTS, "default", holding, namespace="default")
    for gvr, name in ((PODS, "web"), (SECRETS, "s")):
        await client.delete(gvr, name, namespace="default", grace_period_seconds=0)
    await virtual_clock.sleep(59)
    assert all([(await review_token(client, token))["authenticated"] for token in tokens])
    await virtual_clock.sleep(2)
    for token in tokens:
        assert (await review_token(client, token))[
            "error"
        ] == "[invalid bearer token, service account token has been invalidated]"
    await client.delete(SERVICE_ACCOUNTS, "default", namespace="default")
    assert (await review_token(client, of_account))["authenticated"]
    await virtual_clock.sleep(61)
    assert (await review_token(client, of_account))[
        "error"
    ] == "[invalid bearer token, service account default/default has been deleted]"


async def test_a_review_says_why_a_token_is_not_good(
    client: Client, default_account: Object, virtual_clock: VirtualClock
) -> None:
    assert (await review_token(client, "x"))["error"] == "invalid bearer token"
    for none in (" ", " x"):  # as if there were no token, which makes one anonymous
        assert await review_token(client, none, "vault") == {
            "authenticated": True,
            "user": {"username": "system:anonymous", "groups": ["system:unauthenticated"]},
            "audiences": ["vault"],
        }
    await client.create(PODS, pod(), namespace="default")
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "web"}
    short = (await request_token(client, expirationSeconds=600))["status"]["token"]
    bound, of_account = [
        (await request_token(client, expirationSeconds=7200, boundObjectRef=target))["status"]["token"]
        for target in (reference, None)
    ]
    await virtual_clock.sleep(661)
    assert (await review_token(client, short))["error"] == "[invalid bearer token, service account token has expired]"
    await client.delete(PODS, "web", namespace="default")
    assert (await review_token(client, bound))[
        "error"
    ] == "[invalid bearer token, service account token has been invalidated]"
    again = await client.create(PODS, pod(), namespace="default")
    assert f"pod UID ({again['metadata']['uid']}) does not match" in (await review_token(client, bound))["error"]
    await client.delete(SERVICE_ACCOUNTS, "default", namespace="default")
    assert (await review_token(client, of_account))[
        "error"
    ] == '[invalid bearer token, serviceaccounts "default" not found]'


async def test_a_pods_token_says_on_which_node_it_runs(client: Client, default_account: Object) -> None:
    node = await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}})
    await client.create(PODS, pod(nodeName="a"), namespace="default")
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "web"}
    token = (await request_token(client, boundObjectRef=reference))["status"]["token"]
    extra = (await review_token(client, token))["user"]["extra"]
    assert extra["authentication.kubernetes.io/node-name"] == ["a"]
    assert extra["authentication.kubernetes.io/node-uid"] == [node["metadata"]["uid"]]
    await client.delete(NODES, "a")
    assert (await review_token(client, token))["authenticated"] is True  # it is the Pod that it is bound to


async def test_a_token_that_lives_longer_than_it_says(client: Client, default_account: Object) -> None:
    """The ServiceAccount plugin's odd number of seconds: the answer counts them, the token lives on."""
    await client.create(PODS, pod(), namespace="default")
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "web"}
    made = await request_token(client, boundObjectRef=reference, expirationSeconds=3607)
    assert made["status"]["expirationTimestamp"] == "2026-01-01T01:00:07Z"
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}})
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    await client.create(SECRETS, secret, namespace="default")
    for kind, name, lives in (("Pod", "web", 365 * 24 * 3600), ("Node", "a", 3607), ("Secret", "a", 3607)):
        reference = {"apiVersion": "v1", "kind": kind, "name": name}
        made = await request_token(client, boundObjectRef=reference, expirationSeconds=3607)
        claims = jwt.decode(made["status"]["token"], options={"verify_signature": False})
        assert claims["exp"] - claims["iat"] == lives, kind  # only those of Pods are kept in files
        assert ("warnafter" in claims["kubernetes.io"]) == (kind == "Pod")


@pytest.mark.parametrize(("version", "metadata"), [("1.37", {}), ("1.33", {"creationTimestamp": None})])
async def test_what_is_never_stored_was_never_made(virtual_clock: VirtualClock, version: str, metadata: Object) -> None:
    config = ClusterConfig(seed=1, kubernetes_version=version, components=frozenset())
    async with Cluster(config, clock=virtual_clock) as cluster:
        review = {"apiVersion": f"{AUTHORIZATION}/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "a"}}
        client = cluster.client(user_agent="kubectl/v1.37.1")
        answer = await client.create(GVR(AUTHORIZATION, "v1", "selfsubjectrulesreviews"), review)
        assert answer["metadata"] == metadata


def signed(key: ec.EllipticCurvePrivateKey, kid: str | None, **claims: Any) -> str:
    headers = {"kid": kid} if kid is not None else {}
    return jwt.encode({"iss": ISSUER, "aud": [ISSUER], **claims}, key, algorithm="ES256", headers=headers)


async def test_a_token_of_another_key_is_told_apart_from_one_of_another_issuer(
    client: Client, default_account: Object, virtual_clock: VirtualClock
) -> None:
    """TestTokenGenerateAndValidate of upstream."""
    own = (await request_token(client, audiences=["vault"]))["status"]["token"]
    kid = jwt.get_unverified_header(own)["kid"]
    key = ec.generate_private_key(ec.SECP256R1())
    head, claims, signature = own.split(".")
    unsigned = jwt.encode({"iss": ISSUER}, "", algorithm="none")
    rows = {
        signed(key, kid): "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]",
        signed(key, None): "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]",
        signed(key, "other"): "[invalid bearer token, invalid signature, no keys found]",
        signed(key, kid, iss="https://example.com"): "invalid bearer token",
        unsigned: "invalid bearer token",
        jwt.encode({"iss": ISSUER}, "secret" * 8, algorithm="HS256"): "invalid bearer token",
        f"{head}.{claims}": "invalid bearer token",
        f"{head}.{claims}.{signature[:-4]}AAAA": (
            "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"
        ),
    }
    for token, error in rows.items():
        assert await review_token(client, token) == {"user": {}, "error": error}
    await virtual_clock.sleep(2 * 3600)  # whom it is for is looked at before how long it is good
    assert "token audiences" in (await review_token(client, own))["error"]
    assert "has expired" in (await review_token(client, own, "vault"))["error"]


SELECTORS: dict[str, tuple[Object, str]] = {
    "good ones": (
        {"fieldSelector": {"requirements": [{"key": "a", "operator": "In", "values": ["b"]}]},
         "labelSelector": {"requirements": [{"key": "a", "operator": "Exists"}]}}, "",
    ),
    "good texts": ({"fieldSelector": {"rawSelector": "a=b"}, "labelSelector": {"rawSelector": "a in (b)"}}, ""),
    "a text that is none": (
        {"fieldSelector": {"rawSelector": "&foo"}},
        "spec.resourceAttributes.fieldSelector ignored due to parse error",
    ),
    "many values": (
        {"fieldSelector": {"requirements": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}},
        "spec.resourceAttributes.fieldSelector ignored due to parse error",
    ),
    "only what newer servers know": (
        {"fieldSelector": {"requirements": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Odd"}]},
         "labelSelector": {"requirements": [{"key": "a", "operator": "Odd"}]}},
        "spec.resourceAttributes.fieldSelector ignored due to parse error; "
        "spec.resourceAttributes.labelSelector ignored due to parse error",
    ),
    "also what newer servers know": (
        {"fieldSelector": {"requirements": [
            {"key": "a", "operator": "NotIn", "values": ["b"]}, {"key": "a", "operator": "DoesNotExist"},
         ]},
         "labelSelector": {"requirements": [{"key": "a", "operator": "Odd"}, {"key": "b", "operator": "Exists"}]}},
        "spec.resourceAttributes.fieldSelector partially ignored due to parse error; "
        "spec.resourceAttributes.labelSelector partially ignored due to parse error",
    ),
}  # fmt: skip


async def test_a_review_says_which_selectors_count_for_nothing(client: Client) -> None:
    """TestAuthorizationAttributesFrom of upstream."""
    for name, (selectors, told) in SELECTORS.items():
        spec = {"resourceAttributes": {**_PODS, **selectors}}
        status = (await ask(client, "SelfSubjectAccessReview", spec, {}))["status"]
        assert (status["allowed"], status.get("evaluationError", "")) == (True, told), name


async def test_reviews_of_oneself_give_back_nothing_of_the_question(
    client: Client, virtual_clock: VirtualClock
) -> None:
    asked = {"metadata": {"name": "a", "labels": {"b": "c"}}}
    who = {**asked, "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    rules = {**asked, "apiVersion": f"{AUTHORIZATION}/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "a"}}
    found = await client.create(GVR("authentication.k8s.io", "v1", "selfsubjectreviews"), who)
    assert found["metadata"] == {"creationTimestamp": virtual_clock.timestamp()}
    assert list(found) == ["kind", "apiVersion", "metadata", "status"]
    found = await client.create(GVR(AUTHORIZATION, "v1", "selfsubjectrulesreviews"), rules)
    assert (found["metadata"], found["spec"]) == ({}, {})
    assert list(found["status"]) == ["resourceRules", "nonResourceRules", "incomplete"]
