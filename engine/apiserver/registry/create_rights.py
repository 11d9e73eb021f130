"""An update or an apply that makes an object needs the right to create it, besides its own (apiserver
pkg/endpoints/handlers update.go, withAuthorization)."""

from __future__ import annotations

from engine.api.errors import forbidden
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import Verdict
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call


async def check_may_create(backend: Backend, call: Call) -> None:
    """Raises ApiError 403, which tells what the authorizers say and nothing else."""
    decision = (await backend.authorizer.authorize(Question.of(call.user, call.info)._replace(verb="create"))).decision
    if decision.verdict is not Verdict.ALLOW:
        raise forbidden(call.gvr_resource.gvr, call.info.name, decision.reason)
