"""Anybody with the keys of the issuer can check a service account's token."""

from __future__ import annotations

from typing import Any

import jwt

from engine.api.types import SERVICE_ACCOUNTS, Object
from engine.client import Client
from tests.apiserver.conftest import ClientFor

ISSUER = "https://kubernetes.default.svc.cluster.local"


async def test_a_token_is_checked_with_the_published_keys(client: Client, default_account: Object) -> None:
    configuration = await client.send("GET", "/.well-known/openid-configuration")
    assert configuration.body == {
        "issuer": ISSUER,
        "jwks_uri": f"{ISSUER}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    keys = await client.send("GET", "/openid/v1/jwks")
    assert keys.headers["content-type"] == "application/jwk-set+json"
    assert keys.headers["cache-control"] == "public, max-age=3600"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["vault"]}}
    made = await client.create(SERVICE_ACCOUNTS, request, namespace="default", name="default", subresource="token")
    token = made["status"]["token"]
    wanted = jwt.get_unverified_header(token)["kid"]
    (key,) = [jwt.PyJWK(each) for each in keys.body["keys"] if each["kid"] == wanted]
    options: Any = {"verify_exp": False, "verify_iat": False, "verify_nbf": False}
    claims = jwt.decode(token, key, algorithms=["ES256"], audience="vault", issuer=ISSUER, options=options)
    assert claims["sub"] == "system:serviceaccount:default:default"


async def test_service_accounts_may_ask_for_them_and_others_not(client_for: ClientFor) -> None:
    robot = client_for("system:serviceaccount:default:a", "system:serviceaccounts")
    for path in ("/.well-known/openid-configuration", "/openid/v1/jwks"):
        assert (await robot.send("GET", path)).status == 200
        assert (await client_for("jane").send("GET", path)).status == 403
