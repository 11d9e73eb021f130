"""Tokens of an issuer that really listens (apiserver plugin/pkg/authenticator/token/oidc oidc_test.go)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import jwt
import orjson
import pytest
import yaml
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from engine.api.types import GVR, Object
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN
from tests.kept_pki import kept_pki

REVIEWS = GVR("authentication.k8s.io", "v1", "tokenreviews")
KEY, OTHER_KEY = (rsa.generate_private_key(65537, 2048) for _ in range(2))
EC_KEY = ec.generate_private_key(ec.SECP256R1())
LATE = 4102444800  # 2100-01-01
ALL = "system:authenticated"


@dataclass
class Issuer:
    url: str
    authority: str
    folder: Path
    documents: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def token(self, key: Any = KEY, *, algorithm: str = "RS256", kid: str = "one", **claims: Any) -> str:
        said = {"iss": self.url, "aud": "my-client", "exp": LATE, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, key, algorithm=algorithm, headers={"kid": kid})

    def configure(self, **said: Any) -> Path:
        """A file of one issuer, of which some is said otherwise."""
        authenticator = {
            "issuer": {"url": self.url, "audiences": ["my-client"], "certificateAuthority": self.authority},
            "claimMappings": {"username": {"claim": "username", "prefix": ""}},
            **said,
        }
        return self.write({"jwt": [authenticator]})

    def write(self, said: Object) -> Path:
        head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
        file = self.folder / "authentication.yaml"
        file.write_text(yaml.safe_dump({**head, **said}))
        return file


@pytest.fixture
async def issuer(tmp_path: Path) -> AsyncIterator[Issuer]:
    pki = kept_pki(tmp_path, ["127.0.0.1"], datetime.now(UTC))
    found = Issuer("", pki.authority.pair.certificate.decode(), tmp_path)

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        found.asked.append((request.path, request.headers.get("authorization", "")))
        document = found.documents.get(request.path)
        if document is None:
            return web.Response(status=404)
        return web.Response(text=document) if isinstance(document, str) else web.json_response(document)

    runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=pki.server_context(tmp_path)).start()
    found.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    found.documents["/.well-known/openid-configuration"] = {"issuer": found.url, "jwks_uri": f"{found.url}/keys"}
    keys = [
        {**orjson.loads(RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "one"},
        {**orjson.loads(ECAlgorithm.to_jwk(EC_KEY.public_key())), "kid": "two"},
    ]
    found.documents["/keys"] = {"keys": keys}
    yield found
    await runner.cleanup()


class Served(NamedTuple):
    server: ApiServer
    client: Client

    async def review(self, token: str) -> Object:
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        status: Object = (await self.client.create(REVIEWS, asked))["status"]
        return status

    async def known(self, token: str) -> Object:
        """The review, once the issuer has been asked where its keys are."""
        async with asyncio.timeout(20):
            while "not initialized" in (found := await self.review(token)).get("error", ""):
                await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        return found


class Serve:
    def __init__(self) -> None:
        self.servers: list[tuple[ApiServer, SqliteStore]] = []

    async def __call__(self, **config: Any) -> Served:
        world = World.create(clock=Clock(), seed=1)
        store = await SqliteStore.open(None, clock=world.clock)
        server = ApiServer(world, store, config=ClusterConfig(**config))
        await server.start()
        self.servers.append((server, store))
        return Served(server, Client(InProcessTransport(server, ADMIN), user_agent="test"))


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    found = Serve()
    yield found
    for server, store in found.servers:
        await server.stop()
        await store.close()


def expressions(**mappings: Any) -> Object:
    return {"claimMappings": {"username": {"expression": "claims.username"}, **mappings}}


def of_claims(**mappings: Any) -> Object:
    return {"claimMappings": {"username": {"claim": "username", "prefix": ""}, **mappings}}


JANE: Object = {"username": "jane"}
GROUPS = {"claim": "groups", "prefix": ""}
_CREDENTIAL = "authentication.kubernetes.io/credential-id"
USERS: dict[str, tuple[Object, Object, Object]] = {
    "a name": ({}, JANE, {"username": "jane", "groups": [ALL]}),
    "its identity": (
        {},
        {**JANE, "jti": "1"},
        {"username": "jane", "groups": [ALL], "extra": {_CREDENTIAL: ["JTI=1"]}},
    ),
    "a prefix": (
        of_claims(username={"claim": "username", "prefix": "oidc:"}, groups={"claim": "groups", "prefix": "g:"}),
        {**JANE, "groups": ["a", "b"]},
        {"username": "oidc:jane", "groups": ["g:a", "g:b", ALL]},
    ),
    "a group that is a text": (
        of_claims(groups=GROUPS),
        {**JANE, "groups": "a"},
        {"username": "jane", "groups": ["a", ALL]},
    ),
    "no groups": (of_claims(groups=GROUPS), JANE, {"username": "jane", "groups": [ALL]}),
    "a uid": (of_claims(uid={"claim": "uid"}), {**JANE, "uid": "7"}, {"username": "jane", "uid": "7", "groups": [ALL]}),
    "an email that is verified": (
        of_claims(username={"claim": "email", "prefix": ""}),
        {"email": "jane@a.b", "email_verified": True},
        {"username": "jane@a.b", "groups": [ALL]},
    ),
    "an email of which that is not said": (
        of_claims(username={"claim": "email", "prefix": ""}),
        {"email": "jane@a.b"},
        {"username": "jane@a.b", "groups": [ALL]},
    ),
    "expressions": (
        expressions(
            username={"expression": "'x:' + claims.username"},
            groups={"expression": "claims.roles.split(',')"},
            uid={"expression": "claims.nested.id"},
            extra=[
                {"key": "a.b/c", "valueExpression": "claims.nested.many"},
                {"key": "a.b/d", "valueExpression": "''"},
                {"key": "a.b/e", "valueExpression": "claims.nested.foo__dot__bar"},
            ],
        ),
        {**JANE, "roles": "a,b", "nested": {"id": "7", "many": ["1", "", "2"], "foo.bar": "dotted"}},
        {
            "username": "x:jane",
            "uid": "7",
            "groups": ["a", "b", ALL],
            "extra": {"a.b/c": ["1", "2"], "a.b/e": ["dotted"]},
        },
    ),
    "optional claims": (
        expressions(groups={"expression": "claims.?roles.orValue([])"}),
        JANE,
        {"username": "jane", "groups": [ALL]},
    ),
    "null groups": (
        expressions(groups={"expression": "claims.roles"}),
        {**JANE, "roles": None},
        {"username": "jane", "groups": [ALL]},
    ),
    "rules": (
        {
            "claimValidationRules": [{"claim": "hd", "requiredValue": "a.b"}, {"expression": "claims.age > 17.0"}],
            "userValidationRules": [{"expression": "!user.username.startsWith('system:')"}],
        },
        {**JANE, "hd": "a.b", "age": 18},
        {"username": "jane", "groups": [ALL]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", USERS)
async def test_whose_token_it_is(issuer: Issuer, serve: Serve, name: str) -> None:
    said, claims, user = USERS[name]
    served = await serve(authentication_config=issuer.configure(**said))
    token = issuer.token(**claims)
    if claims.get("roles", "") is None:  # which the helper leaves out
        said_claims = {"iss": issuer.url, "aud": "my-client", "exp": LATE, **claims}
        token = jwt.encode(said_claims, KEY, algorithm="RS256", headers={"kid": "one"})
    status = await served.known(token)
    assert status.get("error", "") == ""
    assert (status["authenticated"], status["user"]) == (True, user)


_USERNAME = "oidc: error evaluating username claim expression"
_GROUP = "oidc: error evaluating group claim expression"
REFUSED: dict[str, tuple[Object, Object, str]] = {
    "no name": ({}, {}, 'oidc: parse username claims "username": claim not present'),
    "a name that is a number": (
        {},
        {"username": 1},
        'oidc: parse username claims "username": json: cannot unmarshal number into Go value of type string',
    ),
    "another audience": ({}, {**JANE, "aud": "x"}, 'oidc: verify token: oidc: expected audience "my-client" got ["x"]'),
    "a token that is over": (
        {},
        {**JANE, "exp": 1262304000},
        "oidc: verify token: oidc: token is expired (Token Expiry: 2010-01-01 00:00:00 +0000 UTC)",
    ),
    "an email that is not verified": (
        of_claims(username={"claim": "email", "prefix": ""}),
        {"email": "a@b", "email_verified": False},
        "oidc: email not verified",
    ),
    "an email of which that is no boolean": (
        of_claims(username={"claim": "email", "prefix": ""}),
        {"email": "a@b", "email_verified": "yes"},
        "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool",
    ),
    "groups that are numbers": (
        of_claims(groups=GROUPS),
        {**JANE, "groups": 42},
        'oidc: parse groups claim "groups": json: cannot unmarshal number into Go value of type string',
    ),
    "a claim that is missing": (
        {"claimValidationRules": [{"claim": "hd", "requiredValue": "a"}]},
        JANE,
        "oidc: required claim hd not present in ID token",
    ),
    "a claim that is another": (
        {"claimValidationRules": [{"claim": "hd", "requiredValue": "a"}]},
        {**JANE, "hd": "b"},
        "oidc: required claim hd value does not match. Got = b, want = a",
    ),
    "a rule that says no": (
        {"claimValidationRules": [{"expression": 'claims.hd == "a"', "message": "hd must be a"}]},
        {**JANE, "hd": "b"},
        "oidc: error evaluating claim validation expression: validation expression 'claims.hd == \"a\"' failed: "
        "hd must be a",
    ),
    "a rule that fails": (
        {"claimValidationRules": [{"expression": 'claims.hd == "a"'}]},
        JANE,
        "oidc: error evaluating claim validation expression: expression 'claims.hd == \"a\"' resulted in error: "
        "no such key: "
        "hd",
    ),
    "a user who may not be": (
        {"userValidationRules": [{"expression": "user.username == 'joe'", "message": "only joe"}]},
        JANE,
        "oidc: error evaluating user info validation rule: validation expression 'user.username == 'joe'' "
        "failed: only joe",
    ),
    "an expression that is no text": (
        expressions(username={"expression": "claims.username"}),
        {"username": 1},
        f"{_USERNAME}: username claim expression must return a string",
    ),
    "an empty name": (expressions(), {"username": ""}, "oidc: empty username via CEL expression is not allowed"),
    "a group that is no text": (
        expressions(groups={"expression": "claims.groups"}),
        {**JANE, "groups": [1]},
        f"{_GROUP}: expression must return a string or a list of strings",
    ),
    "a uid that is no text": (
        expressions(uid={"expression": "claims.uid"}),
        {**JANE, "uid": 1},
        "oidc: error evaluating uid claim expression: uid claim expression must return a string",
    ),
    "an extra value that is no text": (
        expressions(extra=[{"key": "a.b/c", "valueExpression": "claims.x"}]),
        {**JANE, "x": 1},
        "oidc: error evaluating extra claim expression: claims.x: expression must return a string or a list of strings",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_why_a_token_is_refused(issuer: Issuer, serve: Serve, name: str) -> None:
    said, claims, why = REFUSED[name]
    served = await serve(authentication_config=issuer.configure(**said))
    status = await served.known(issuer.token(**claims))
    assert status == {"user": {}, "error": f"[invalid bearer token, {why}]"}


async def test_how_tokens_are_signed(issuer: Issuer, serve: Serve) -> None:
    """Any way will do where a file configures the issuer; of flags' that which they name."""
    served = await serve(authentication_config=issuer.configure())
    good = issuer.token(EC_KEY, algorithm="ES256", kid="two", **JANE)
    assert (await served.known(good))["authenticated"]
    unsigned = (
        "[invalid bearer token, oidc: verify token: failed to verify signature: failed to verify id token signature]"
    )
    for bad in (
        issuer.token(OTHER_KEY, **JANE),
        issuer.token(kid="three", **JANE),
        issuer.token(EC_KEY, algorithm="ES256", **JANE),
    ):
        assert (await served.review(bad))["error"] == unsigned
    request = Request("GET", "/api", {}, {"authorization": f"Bearer {issuer.token(OTHER_KEY, **JANE)}"})
    assert (await served.server.handle(request)).status == 401

    authenticator = {
        "issuer": {"url": issuer.url, "audiences": ["my-client"], "certificateAuthority": issuer.authority},
        "claimMappings": {"username": {"claim": "username", "prefix": "p:"}},
    }
    by_flags = await serve(oidc=authenticator)
    assert (await by_flags.known(issuer.token(**JANE)))["user"]["username"] == "p:jane"
    told = 'oidc: id token signed with unsupported algorithm, expected ["RS256"] got "ES256"'
    assert (await by_flags.review(good))["error"] == f"[invalid bearer token, oidc: verify token: {told}]"


async def test_keys_that_are_new_are_asked_for(issuer: Issuer, serve: Serve) -> None:
    served = await serve(authentication_config=issuer.configure())
    assert (await served.known(issuer.token(**JANE)))["authenticated"]
    jwk = {**orjson.loads(RSAAlgorithm.to_jwk(OTHER_KEY.public_key())), "kid": "three"}
    issuer.documents["/keys"]["keys"].append(jwk)
    assert (await served.review(issuer.token(OTHER_KEY, kid="three", **JANE)))["authenticated"]


async def test_any_of_several_audiences(issuer: Issuer, serve: Serve) -> None:
    audiences = {"audiences": ["x", "my-client"], "audienceMatchPolicy": "MatchAny"}
    said = {"url": issuer.url, "certificateAuthority": issuer.authority, **audiences}
    served = await serve(authentication_config=issuer.configure(issuer=said))
    assert (await served.known(issuer.token(**JANE)))["authenticated"]
    told = 'oidc: verify token: oidc: expected audience in ["my-client" "x"] got ["y" "z"]'
    status = await served.review(issuer.token(**JANE, aud=["y", "z"]))
    assert status["error"] == f"[invalid bearer token, {told}]"


async def test_an_issuer_that_is_found_elsewhere(issuer: Issuer, serve: Serve) -> None:
    known = issuer.documents.pop("/.well-known/openid-configuration")
    issuer.documents["/elsewhere"] = {**known, "issuer": "https://unreachable"}
    said = {
        "url": "https://unreachable",
        "discoveryURL": f"{issuer.url}/elsewhere",
        "audiences": ["my-client"],
        "certificateAuthority": issuer.authority,
    }
    served = await serve(authentication_config=issuer.configure(issuer=said))
    assert (await served.known(issuer.token(**JANE, iss="https://unreachable")))["authenticated"]


async def test_groups_that_another_server_has(issuer: Issuer, serve: Serve) -> None:
    served = await serve(authentication_config=issuer.configure(**of_claims(groups=GROUPS)))
    issuer.documents["/groups"] = issuer.token(groups=["far"])
    source = {"endpoint": f"{issuer.url}/groups", "access_token": "secret"}
    claims = {**JANE, "_claim_names": {"groups": "src"}, "_claim_sources": {"src": source}}
    assert (await served.known(issuer.token(**claims)))["user"]["groups"] == ["far", ALL]
    assert ("/groups", "Bearer secret") in issuer.asked
    lost = issuer.token(**{**claims, "_claim_sources": {}})
    why = "oidc: verify token: oidc: source does not exist"
    assert (await served.review(lost))["error"] == f"[invalid bearer token, {why}]"
    issuer.documents["/groups"] = issuer.token(groups=["far"], aud="other")
    why = 'verify distributed claim token: oidc: expected audience "my-client" got ["other"]'
    told = f"[invalid bearer token, oidc: could not expand distributed claims: {why}]"
    assert (await served.review(issuer.token(**claims)))["error"] == told
    issuer.documents["/groups"] = issuer.token()
    why = f'jwt returned by distributed claim endpoint "{issuer.url}/groups" did not contain claim: groups'
    told = f"[invalid bearer token, oidc: could not expand distributed claims: {why}]"
    assert (await served.review(issuer.token(**claims)))["error"] == told
    normal = issuer.token(**claims, groups=["near"])
    assert (await served.review(normal))["user"]["groups"] == ["near", ALL]


async def test_the_file_is_read_again(issuer: Issuer, serve: Serve) -> None:
    """What is not valid, and another word on who is anonymous, changes nothing."""
    file = issuer.configure()
    served = await serve(authentication_config=file)
    token = issuer.token(**JANE)
    assert (await served.known(token))["user"]["username"] == "jane"
    changes = [
        issuer.configure(**of_claims(username={"claim": "username", "prefix": "new:"})).read_text(),
        issuer.configure(**of_claims(username={"claim": "username"})).read_text(),
        issuer.write({"jwt": [], "anonymous": {"enabled": False}}).read_text(),
    ]
    for number, text in enumerate(changes):
        file.write_text(text)
        os.utime(file, ns=(number, number))
        assert (await served.known(token))["user"]["username"] == "new:jane"
    text = str((await served.server.handle(Request("GET", "/metrics", certificate=ADMIN, in_process=True))).body)
    counted = "apiserver_authentication_config_controller_automatic_reloads_total{apiserver_id_hash="
    lines = [line for line in text.replace("\\n", "\n").splitlines() if line.startswith(counted)]
    assert sorted(line.split('status="')[1] for line in lines) == ['failure"} 2', 'success"} 1']
    name, known = "apiserver_authentication_jwt_authenticator", sha256(issuer.url.encode()).hexdigest()
    assert f'{name}_latency_seconds_count{{jwt_issuer_hash="sha256:{known}",result="success"}}' in text
    assert f'{name}_jwks_fetch_last_key_set_info{{apiserver_id_hash="sha256:' in text


@pytest.mark.parametrize(
    ("said", "codes"),
    [
        ({"enabled": True}, (200, 403)),
        ({"enabled": False}, (401, 401)),
        ({"enabled": True, "conditions": [{"path": "/livez"}]}, (200, 401)),
    ],
)
async def test_who_is_anonymous(issuer: Issuer, serve: Serve, said: Object, codes: tuple[int, int]) -> None:
    served = await serve(authentication_config=issuer.write({"jwt": [], "anonymous": said}))
    found = [(await served.server.handle(Request("GET", path))).status for path in ("/livez", "/api/v1/pods")]
    assert tuple(found) == codes
