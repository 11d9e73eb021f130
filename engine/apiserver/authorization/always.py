"""The authorizers that look at nothing (apiserver pkg/authorization/authorizerfactory builtin.go)."""

from __future__ import annotations

from engine.apiserver.authorization.attributes import Attributes, Decision, Verdict


class AlwaysAllow:
    name = "AlwaysAllow"

    async def authorize(self, attributes: Attributes) -> Decision:
        return Decision(Verdict.ALLOW, authorizer=self.name)


class AlwaysDeny:
    """Has no opinion, which is a no where nobody else has one."""

    name = "AlwaysDeny"

    async def authorize(self, attributes: Attributes) -> Decision:
        return Decision(Verdict.NO_OPINION, "Everything is forbidden.")
