"""`create token`: a token of a service account.

Source of the behaviour: kubectl pkg/cmd/create/create_token.go.
"""

from __future__ import annotations

from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.types import GVK, GVR, Object
from engine.client.unreachable import UnreachableError
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError, NamespaceError
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.session import Session
from engine.kubectl.verbs.create import reason

BOUND = {"Node": "v1", "Pod": "v1", "Secret": "v1"}


async def create_token(session: Session, name: str) -> None:
    flags = session.flags
    if not name:
        raise CommandError("service account name is required")
    if "" in flags.many("audience"):
        raise CommandError("--audience must not be an empty string")
    spec: Object = {"audiences": flags.many("audience") or None}
    kind, bound = flags.text("bound-object-kind"), flags.text("bound-object-name")
    if kind:
        if kind not in BOUND:
            raise CommandError(f"supported --bound-object-kind values are {', '.join(BOUND)}")
        if not bound:
            raise CommandError("--bound-object-name is required if --bound-object-kind is provided")
        uid = {"uid": flags.text("bound-object-uid")} if flags.text("bound-object-uid") else {}
        spec["boundObjectRef"] = {"kind": kind, "apiVersion": BOUND[kind], "name": bound, **uid}
    elif bound or flags.text("bound-object-uid"):
        given = "name" if bound else "uid"
        raise CommandError(f"--bound-object-{given} can only be set if --bound-object-kind is provided")
    if flags.given("duration"):
        seconds = flags.seconds("duration")
        if seconds < 0 or seconds % 1:
            raise CommandError(
                "--duration must be greater than or equal to 0"
                if seconds < 0
                else "--duration cannot be expressed in units less than seconds"
            )
        spec["expirationSeconds"] = int(seconds)
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {key: value for key, value in spec.items() if value is not None},
    }
    accounts = Resource.unasked(GVK("", "v1", "ServiceAccount"))
    try:
        path = session.path_of(accounts, session.namespace, name, "token")
        answer: Object = await session.request("POST", path, body=request)
    except (ApiError, NamespaceError, UnreachableError) as error:
        raise CommandError(f"failed to create token: {reason(error)}") from error
    token = (answer.get("status") or {}).get("token", "")
    if not token:
        raise CommandError("failed to create token: no token in server response")
    if flags.text("output"):
        requests = replace(
            accounts,
            gvr=GVR("authentication.k8s.io", "v1", "tokenrequests"),
            kind="TokenRequest",
            singular="tokenrequest",
        )
        result_printer(session, "", typed=True)(answer, requests)
    else:
        session.stdout.write(token)
