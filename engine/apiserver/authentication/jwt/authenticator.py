"""Who shows a token of one issuer: its claims, and the user that they make (plugin/pkg/authenticator/token/oidc)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from engine.api.cel.environment import Program
from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.apiserver.authentication.jwt.distributed_claims import DistributedClaims
from engine.apiserver.authentication.jwt.expressions import (
    UNLIMITED,
    claim_rule,
    mapping,
    reachable,
    texts_of,
    user_rule,
)
from engine.apiserver.authentication.jwt.metrics import JwtMetrics
from engine.apiserver.authentication.jwt.provider import Provider, Token
from engine.apiserver.authentication.token_error import TokenError
from engine.apiserver.authentication.tokens import credential_id
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.authentication.x509 import CREDENTIAL_ID
from engine.clock import Clock, wall

_NAMES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}


class JwtAuthenticator:
    """`said` is a JWTAuthenticator that has been found valid."""

    def __init__(self, said: Object, clock: Clock, algorithms: Collection[str], metrics: JwtMetrics) -> None:
        issuer = said["issuer"]
        self.provider = Provider(
            issuer["url"],
            discovery_url=issuer.get("discoveryURL") or "",
            authority=issuer.get("certificateAuthority") or "",
            audiences=issuer["audiences"],
            clock=clock,
            fetched=metrics.fetched,
        )
        self._metrics = metrics
        self._algorithms = algorithms
        mappings = said["claimMappings"]
        self._username, self._groups, self._uid = (mappings.get(each) or {} for each in ("username", "groups", "uid"))
        self._extra = [(each["key"], each["valueExpression"]) for each in mappings.get("extra") or ()]
        rules = said.get("claimValidationRules") or ()
        self._required = {each["claim"]: each.get("requiredValue") or "" for each in rules if each.get("claim")}
        self._claim_rules = [each for each in rules if each.get("expression")]
        self._user_rules = said.get("userValidationRules") or ()
        claim = self._groups.get("claim")
        self._distributed = DistributedClaims(claim, self.provider, issuer, clock, algorithms) if claim else None

    async def examine(self, token: Token) -> UserInfo:
        """Whose token it is. Raises TokenError."""
        began, succeeded = wall(), False
        try:
            user = await self._examined(token)
            succeeded = True
        finally:
            self._metrics.authenticated(self.provider.url, wall() - began, succeeded=succeeded)
        return user

    async def _examined(self, token: Token) -> UserInfo:
        if not self.provider.is_ready:
            raise TokenError("oidc: authenticator not initialized")
        try:
            await self.provider.verify(token, self._algorithms)
        except TokenError as error:
            raise TokenError(f"oidc: verify token: {error}") from None
        claims = dict(token.claims)
        if self._distributed is not None:
            try:
                await self._distributed.expand(claims)
            except TokenError as error:
                raise TokenError(f"oidc: could not expand distributed claims: {error}") from None
        return self._user(claims)

    def _user(self, claims: Mapping[str, Any]) -> UserInfo:
        values = {"claims": reachable(claims)}
        name = self._name_of(claims, values)
        groups = self._groups_of(claims, values)
        user = UserInfo(name, self._uid_of(claims, values), groups, self._extra_of(claims, values))
        for claim, wanted in self._required.items():
            if claim not in claims:
                raise TokenError(f"oidc: required claim {claim} not present in ID token")
            if (found := _text(claims, claim, f"oidc: parse claim {claim}")) != wanted:
                told = f"Got = {found}, want = {wanted}"
                raise TokenError(f"oidc: required claim {claim} value does not match. {told}")
        self._keep_rules(self._claim_rules, claim_rule, values, "claim validation expression")
        about = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        extra = {key: list(each) for key, each in user.extra}
        known = {"user": reachable({**about, "extra": extra})}
        self._keep_rules(self._user_rules, user_rule, known, "user info validation rule")
        return user

    def _name_of(self, claims: Mapping[str, Any], values: Object) -> str:
        what = "oidc: error evaluating username claim expression"
        if expression := self._username.get("expression"):
            name = _evaluated(mapping(expression), expression, values, what)
            if not isinstance(name, str):
                raise TokenError(f"{what}: username claim expression must return a string")
            if not name:
                raise TokenError("oidc: empty username via CEL expression is not allowed")
            return name
        claim = self._username["claim"]
        name = _text(claims, claim, f"oidc: parse username claims {quoted(claim)}")
        if claim == "email" and "email_verified" in claims:
            verified = claims["email_verified"]
            if not isinstance(verified, bool | None):
                wrong = f"json: cannot unmarshal {_NAMES[type(verified)]} into Go value of type bool"
                raise TokenError(f"oidc: parse 'email_verified' claim: {wrong}")
            if not verified:
                raise TokenError("oidc: email not verified")
        return f"{self._username.get('prefix') or ''}{name}"

    def _groups_of(self, claims: Mapping[str, Any], values: Object) -> tuple[str, ...]:
        claim = self._groups.get("claim")
        if claim and claim in claims:
            said = claims[claim]
            listed = said if isinstance(said, list) else [] if said is None else [said]
            if (wrong := next((each for each in listed if not isinstance(each, str | None)), None)) is not None:
                found = said if isinstance(said, list) else wrong
                why = f"json: cannot unmarshal {_NAMES[type(found)]} into Go value of type string"
                raise TokenError(f"oidc: parse groups claim {quoted(claim)}: {why}")
            return tuple(f"{self._groups.get('prefix') or ''}{each or ''}" for each in listed)
        if expression := self._groups.get("expression"):
            return tuple(_texts(expression, values, "oidc: error evaluating group claim expression"))
        return ()

    def _uid_of(self, claims: Mapping[str, Any], values: Object) -> str:
        if claim := self._uid.get("claim"):
            return _text(claims, claim, f"oidc: parse uid claim {quoted(claim)}")
        expression, what = self._uid.get("expression"), "oidc: error evaluating uid claim expression"
        if not expression:
            return ""
        uid = _evaluated(mapping(expression), expression, values, what)
        if not isinstance(uid, str):
            raise TokenError(f"{what}: uid claim expression must return a string")
        return uid

    def _extra_of(self, claims: Mapping[str, Any], values: Object) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found: dict[str, tuple[str, ...]] = {}
        if isinstance(identity := claims.get("jti"), str) and identity:
            found[CREDENTIAL_ID] = (credential_id(identity),)
        for key, expression in self._extra:
            value = _evaluated(mapping(expression), expression, values, "")
            try:
                texts = texts_of(value)
            except ValueError as error:
                raise TokenError(f"oidc: error evaluating extra claim expression: {expression}: {error}") from None
            if texts:
                found[key] = tuple(texts)
        return tuple(sorted(found.items()))

    def _keep_rules(self, rules: Collection[Object], make: Callable[[str], Program], values: Object, what: str) -> None:
        told = f"oidc: error evaluating {what}"
        outcomes = [_evaluated(make(each["expression"]), each["expression"], values, told) for each in rules]
        for rule, outcome in zip(rules, outcomes, strict=True):
            if outcome is not True:
                failed = f"validation expression '{rule['expression']}' failed: {rule.get('message') or ''}"
                raise TokenError(f"{told}: {failed}")


def _evaluated(program: Program, expression: str, values: Object, what: str) -> Any:
    outcome = program.run(values, limit=UNLIMITED)
    if outcome.error:
        told = f"expression '{expression}' resulted in error: {outcome.error}"
        raise TokenError(f"{what}: {told}" if what else told)
    return outcome.value


def _texts(expression: str, values: Object, what: str) -> list[str]:
    value = _evaluated(mapping(expression), expression, values, what)
    try:
        return texts_of(value)
    except ValueError as error:
        raise TokenError(f"{what}: {error}") from None


def _text(claims: Mapping[str, Any], claim: str, what: str) -> str:
    if claim not in claims:
        raise TokenError(f"{what}: claim not present")
    found = claims[claim]
    if found is not None and not isinstance(found, str):
        raise TokenError(f"{what}: json: cannot unmarshal {_NAMES[type(found)]} into Go value of type string")
    return found or ""
