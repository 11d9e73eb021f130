"""Claims that another server has: `_claim_names` and `_claim_sources` (OpenID Connect Core 1.0, section 5.6.2; the
claim resolver of plugin/pkg/authenticator/token/oidc)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.apiserver.authentication.jwt.provider import Provider, ProviderError, Token
from engine.apiserver.authentication.token_error import TokenError
from engine.clock import Clock


class DistributedClaims:
    """Of one claim, that of groups."""

    def __init__(
        self, claim: str, provider: Provider, issuer: Object, clock: Clock, algorithms: Collection[str]
    ) -> None:
        self._claim = claim
        self._provider = provider
        self._issuer = issuer
        self._clock = clock
        self._algorithms = algorithms
        self._others: dict[str, Provider] = {}

    async def expand(self, claims: dict[str, Any]) -> None:
        """Put the claim of a token that has been verified in, where a source has it. Raises TokenError."""
        names = claims.get("_claim_names") or {}
        if self._claim in claims or self._claim not in names:
            return
        source = claims["_claim_sources"][names[self._claim]]
        if endpoint := source.get("endpoint"):
            claims[self._claim] = await self._resolved(str(endpoint), str(source.get("access_token") or ""))

    async def _resolved(self, endpoint: str, access_token: str) -> Any:
        try:
            text = (await self._provider.get(endpoint, access_token)).decode(errors="replace")
        except ProviderError as error:
            raise TokenError(f"while getting distributed claim {quoted(self._claim)}: {error}") from None
        token = Token.parse(text)
        if token is None:
            told = f"getting untrusted issuer from endpoint {endpoint} failed for claim {quoted(self._claim)}"
            raise TokenError(f"{told}: malformed token")
        try:
            await (await self._verifier(token.issuer)).verify(token, self._algorithms)
        except TokenError as error:
            raise TokenError(f"verify distributed claim token: {error}") from None
        if self._claim not in token.claims:
            told = f"jwt returned by distributed claim endpoint {quoted(endpoint)} did not contain claim"
            raise TokenError(f"{told}: {self._claim}")
        return token.claims[self._claim]

    async def _verifier(self, url: str) -> Provider:
        if url == self._provider.url:
            return self._provider
        found = self._others.get(url)
        if found is None:
            issuer = self._issuer
            found = self._others[url] = Provider(
                url,
                discovery_url="",
                authority=issuer.get("certificateAuthority") or "",
                audiences=issuer["audiences"],
                clock=self._clock,
                fetched=lambda issuer, keys: None,  # upstream tells of none but the configured ones
            )
        if not found.is_ready and not await found.initialize():
            told = f"verifier not initialized for issuer: {quoted(url)}"
            raise TokenError(f"verifying untrusted issuer {url} failed: {told}")
        return found
