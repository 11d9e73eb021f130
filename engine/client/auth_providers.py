"""The ways to log in from before there were plugins: OpenID Connect is left of them (hop 01).

Source of the behaviour: client-go plugin/pkg/client/auth (azure, gcp, oidc).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import aiohttp
import orjson

from engine.api.golang import json as go_json
from engine.api.golang.text import quoted
from engine.client.connection import AuthProvider, KubeConfigError
from engine.clock import Clock

_DOCUMENTATION = "https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"
_REMOVED = {
    "azure": "The azure auth plugin has been removed.\n"
    "Please use the https://github.com/Azure/kubelogin kubectl/client-go credential plugin instead.\n"
    f"See {_DOCUMENTATION} for further details",
    "gcp": "The gcp auth plugin has been removed.\n"
    'Please use the "gke-gcloud-auth-plugin" kubectl/client-go credential plugin instead.\n'
    "See https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke for further details",
}
_EARLY_SECONDS = 10.0
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def provider_of(given: AuthProvider, clock: Clock) -> Provider:
    """Raises KubeConfigError for one that is no more, never was, or lacks what it needs."""
    if given.name in _REMOVED:
        raise KubeConfigError(_REMOVED[given.name])
    if given.name != "oidc":
        raise KubeConfigError(f"no Auth Provider found for name {quoted(given.name)}")
    config = dict(given.config)
    for key in ("idp-issuer-url", "client-id"):
        if not config.get(key):
            raise KubeConfigError(f"Must provide {key}")
    return Provider(config, clock)


class Provider:
    """An identity token, and a new one from its issuer when it expires."""

    def __init__(self, config: Mapping[str, str], clock: Clock) -> None:
        self._config = dict(config)
        self._clock = clock

    async def token(self) -> str:
        """Raises ConnectionError."""
        kept = self._config.get("id-token", "")
        if kept and self._clock.now().timestamp() + _EARLY_SECONDS < _expiry(kept):
            return kept
        if not self._config.get("refresh-token"):
            raise _failed("No valid id-token, and cannot refresh without refresh-token")
        try:
            answer = await self._refresh()
        except aiohttp.ClientError as error:
            raise _failed(f"failed to refresh token: {error}") from error
        if not isinstance(answer.get("id_token"), str):
            raise _failed(
                'token response did not contain an id_token, either the scope "openid" wasn\'t requested '
                "upon login, or the provider doesn't support id_tokens as part of the refresh response"
            )
        self._config["id-token"] = answer["id_token"]
        self._config["refresh-token"] = answer.get("refresh_token") or self._config["refresh-token"]
        return self._config["id-token"]

    async def _refresh(self) -> dict[str, str]:
        issuer = self._config["idp-issuer-url"].rstrip("/")
        form = {
            "grant_type": "refresh_token",
            "refresh_token": self._config["refresh-token"],
            "client_id": self._config["client-id"],
            "client_secret": self._config.get("client-secret", ""),
        }
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            async with session.get(f"{issuer}/.well-known/openid-configuration") as answer:
                endpoint = (await answer.json(content_type=None))["token_endpoint"]
            async with session.post(endpoint, data=form) as answer:
                found: dict[str, str] = await answer.json(content_type=None)
                return found


def _expiry(token: str) -> float:
    """When a token expires, from what it says of itself. Raises ConnectionError for one that is none."""
    parts = token.split(".")
    if len(parts) != 3:
        raise _failed("ID Token is not a valid JWT")
    if (odd := _ODD.search(parts[1])) is not None:
        raise _failed(f"illegal base64 data at input byte {odd.start()}")
    content = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
    try:
        return float(orjson.loads(content).get("exp") or 0)
    except (ValueError, AttributeError, TypeError) as error:
        raise _failed(f"parsing claims: {go_json.syntax_error(content) or error}") from error


def _failed(why: str) -> ConnectionError:
    return ConnectionError(f"Unable to connect to the server: {why}")
