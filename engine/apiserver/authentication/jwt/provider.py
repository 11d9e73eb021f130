"""An issuer of tokens: where its keys are, and whether one of them has signed a token.

Source: coreos/go-oidc v2 (oidc.go NewProvider, jwks.go, verify.go), which the API server verifies with. An issuer is no
part of the model: it is asked on this machine's clock, and its tokens are good by that.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import aiohttp
import jwt
import orjson
from jwt.algorithms import get_default_algorithms

from engine.api.golang.text import quoted
from engine.apiserver.authentication.token_error import TokenError
from engine.clock import Clock
from engine.http_errors import reason

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
_WELL_KNOWN = "/.well-known/openid-configuration"
_TIMEOUT = aiohttp.ClientTimeout(total=30)
_GOOGLE, _GOOGLE_SHORT = "https://accounts.google.com", "accounts.google.com"
_LEEWAY = timedelta(minutes=1)


class Token(NamedTuple):
    """A token in its parts, of which nothing is believed yet."""

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes

    @classmethod
    def parse(cls, text: str) -> Token | None:
        """None for what is no token in the compact form."""
        parts = text.split(".")
        if text.strip().startswith("{") or len(parts) != 3:
            return None
        try:
            header, claims = (orjson.loads(jwt.utils.base64url_decode(part)) for part in parts[:2])
            signature = jwt.utils.base64url_decode(parts[2])
        except ValueError:
            return None
        if not isinstance(header, dict) or not isinstance(claims, dict):
            return None
        return cls(header, claims, ".".join(parts[:2]).encode(), signature)

    @property
    def issuer(self) -> str:
        issuer = self.claims.get("iss")
        return _GOOGLE if issuer == _GOOGLE_SHORT else issuer if isinstance(issuer, str) else ""

    @property
    def audiences(self) -> list[str]:
        said = self.claims.get("aud")
        return [said] if isinstance(said, str) else [each for each in said or () if isinstance(each, str)]


class ProviderError(Exception):
    """The issuer does not say where its keys are, or what they are; the message is go-oidc's."""


class Provider:
    """Of one issuer. `start` asks it until it answers; before that no token of it is good."""

    def __init__(
        self,
        url: str,
        *,
        discovery_url: str,
        authority: str,
        audiences: Collection[str],
        clock: Clock,
        fetched: Callable[[str, bytes | None], None],
    ) -> None:
        """`fetched` is told of an issuer's keys, None for those that could not be had."""
        self.url = url
        self._fetched = fetched
        self._discovery_url = discovery_url or f"{url.removesuffix('/')}{_WELL_KNOWN}"
        self._audiences = tuple(audiences)
        self._clock = clock
        self._machine = Clock()
        self.context = ssl.create_default_context(cadata=authority or None)
        self._keys_url = ""
        self._keys: list[Mapping[str, Any]] = []
        self._fetching = asyncio.Lock()
        self.problem = f"oidc: authenticator for issuer {quoted(url)} is not initialized"

    @property
    def is_ready(self) -> bool:
        return bool(self._keys_url)

    async def initialize(self) -> bool:
        """Ask the issuer where its keys are. False where it does not say, which is to be tried again."""
        try:
            found = _object(await self.get(self._discovery_url))
            if found.get("issuer") != self.url:
                told = f"expected {quoted(self.url)} got {quoted(str(found.get('issuer') or ''))}"
                raise ProviderError(f"oidc: issuer did not match the issuer returned by provider, {told}")
            if not found.get("jwks_uri"):
                raise ProviderError("provider did not return JWKS URL")
        except ProviderError as error:
            self.problem = str(error)
            return False
        self._keys_url, self.problem = str(found["jwks_uri"]), ""
        return True

    async def verify(self, token: Token, algorithms: Collection[str]) -> None:
        """Raises TokenError for a token that is not good, or not for here."""
        _check_sources(token.claims)
        if token.issuer != self.url:
            told = f"expected {quoted(self.url)} got {quoted(token.issuer)}"
            raise TokenError(f"oidc: id token issued by a different provider, {told}")
        audiences = f"[{' '.join(map(quoted, token.audiences))}]"
        if len(self._audiences) == 1 and self._audiences[0] not in token.audiences:
            raise TokenError(f"oidc: expected audience {quoted(self._audiences[0])} got {audiences}")
        self._check_times(token)
        used = str(token.header.get("alg", ""))
        if used not in algorithms:
            listed = f"[{' '.join(map(quoted, algorithms))}]"
            raise TokenError(f"oidc: id token signed with unsupported algorithm, expected {listed} got {quoted(used)}")
        await self._check_signature(token, used)
        if not set(self._audiences) & set(token.audiences):
            wanted = " ".join(map(quoted, sorted(set(self._audiences))))
            raise TokenError(f"oidc: expected audience in [{wanted}] got {audiences}")

    def _check_times(self, token: Token) -> None:
        now = self._machine.now()
        expiry, begins = _time(token.claims.get("exp")), token.claims.get("nbf")
        if expiry < now:
            raise TokenError(f"oidc: token is expired (Token Expiry: {_shown(expiry)})")
        if begins is not None and now + _LEEWAY < _time(begins):
            told = f"oidc: current time {_shown(now)} before the nbf (not before) time: {_shown(_time(begins))}"
            raise TokenError(told)

    async def _check_signature(self, token: Token, algorithm: str) -> None:
        if self._has_signed(token, algorithm):
            return
        try:
            async with self._fetching:
                data = await self.get(self._keys_url)
            self._keys = [each for each in _object(data).get("keys") or () if isinstance(each, dict)]
            self._fetched(self.url, data)
        except ProviderError as error:
            self._fetched(self.url, None)
            raise TokenError(f"failed to verify signature: fetching keys {error}") from None
        if not self._has_signed(token, algorithm):
            raise TokenError("failed to verify signature: failed to verify id token signature")

    def _has_signed(self, token: Token, algorithm: str) -> bool:
        wanted = token.header.get("kid") or ""
        keys = [each for each in self._keys if not wanted or each.get("kid") == wanted]
        return any(_fits(each, token, algorithm) for each in keys)

    async def get(self, url: str, token: str = "") -> bytes:
        """Raises ProviderError."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        try:
            with self._clock.hold():
                async with (
                    aiohttp.ClientSession(timeout=_TIMEOUT) as session,
                    session.get(url, headers=headers, ssl=self.context) as answer,
                ):
                    data = await answer.read()
        except (aiohttp.ClientError, OSError) as error:  # of which TimeoutError is one
            raise ProviderError(f'Get "{url}": {reason(error)}') from error
        if answer.status != 200:
            raise ProviderError(f"{answer.status} {answer.reason}: {data.decode(errors='replace')}")
        return data


def _object(data: bytes) -> dict[str, Any]:
    """Raises ProviderError."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ProviderError(f"oidc: failed to decode provider discovery object: {error}") from error
    if not isinstance(found, dict):
        raise ProviderError("oidc: failed to decode provider discovery object")
    return found


def _fits(key: Mapping[str, Any], token: Token, algorithm: str) -> bool:
    try:
        signing_key = jwt.PyJWK.from_dict(dict(key), algorithm=algorithm).key
        return bool(get_default_algorithms()[algorithm].verify(token.signed, signing_key, token.signature))
    except (jwt.PyJWTError, ValueError, TypeError):
        return False


def _check_sources(claims: Mapping[str, Any]) -> None:
    """Whether there is a source of each claim that another server has."""
    names, sources = claims.get("_claim_names") or {}, claims.get("_claim_sources") or {}
    for said in (names, sources):
        if not isinstance(said, dict):
            raise TokenError("oidc: failed to unmarshal claims: json: cannot unmarshal")
    for source in names.values():
        if not source:
            raise TokenError("oidc: failed to obtain source from claim name")
        if not isinstance(source, str) or not isinstance(sources.get(source), dict):
            raise TokenError("oidc: source does not exist")


def _time(said: Any) -> datetime:
    """Go's zero time for what is none."""
    try:
        return datetime.fromtimestamp(float(said), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.min.replace(tzinfo=UTC)


def _shown(time: datetime) -> str:
    """As Go prints a time with %v, in UTC."""
    whole = time.strftime("%Y-%m-%d %H:%M:%S") if time.year >= 1000 else "0001-01-01 00:00:00"
    fraction = f".{time.microsecond:06d}".rstrip("0") if time.microsecond else ""
    return f"{whole}{fraction} +0000 UTC"
