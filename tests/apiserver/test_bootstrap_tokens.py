"""Who joins a cluster by a bootstrap token, row by row (plugin/pkg/auth/authenticator/token/bootstrap
bootstrap_test.go, test/integration/auth bootstraptoken_test.go)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from engine.api.types import GVR, SECRETS, Object
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock

ID, SECRET = "abcdef", "0123456789abcdef"
REVIEWS = GVR("authentication.k8s.io", "v1", "tokenreviews")
HOUR = timedelta(hours=1)


class Row(NamedTuple):
    """What is another than in a token that is good, and the groups of who shows it: none where nobody knows it."""

    data: dict[str, str]
    groups: tuple[str, ...] = ()
    shown: str = f"{ID}.{SECRET}"
    name: str = ""
    type: str = "bootstrap.kubernetes.io/token"
    finalizer: str = ""


BOOTSTRAPPERS = ("system:bootstrappers",)
EXTRA = "auth-extra-groups"
ROWS = {
    "good": Row({}, BOOTSTRAPPERS),
    "good for another hour": Row({"expiration": "+1"}, BOOTSTRAPPERS),
    "over": Row({"expiration": "-1"}),
    "of a time that is none": Row({"expiration": "soon"}),
    "with groups": Row(
        {EXTRA: "system:bootstrappers:foo,system:bootstrappers:bar,system:bootstrappers:foo"},
        (*BOOTSTRAPPERS, "system:bootstrappers:bar", "system:bootstrappers:foo"),
    ),
    "with a group of others": Row({EXTRA: "system:bootstrappers:foo,system:masters"}),
    "with a group of no name": Row({EXTRA: "system:bootstrappers:"}),
    "of another secret": Row({"token-secret": "another"}),
    "of another id": Row({"token-id": "ghijkl"}),
    "of no id": Row({"token-id": ""}),
    "not for this": Row({"usage-bootstrap-authentication": "false"}),
    "of a Secret of another name": Row({}, name="bootstrap-token-ghijkl"),
    "of a Secret of another type": Row({}, type="Opaque"),
    "of a Secret that goes": Row({}, finalizer="a.io/b"),
    "of another form": Row({}, shown=f"{ID}.{SECRET}0"),
    "of no form": Row({}, shown="x"),
}


async def test_who_shows_a_bootstrap_token(server: ApiServer, client: Client, virtual_clock: VirtualClock) -> None:
    for told, row in ROWS.items():
        data = {"token-id": ID, "token-secret": SECRET, "usage-bootstrap-authentication": "true", **row.data}
        if (time := data.get("expiration")) in ("+1", "-1"):
            data["expiration"] = (virtual_clock.now() + int(time or 0) * HOUR).strftime("%Y-%m-%dT%H:%M:%SZ")
        name = row.name or f"bootstrap-token-{ID}"
        made = secret(name, data, row.type)
        if row.finalizer:
            made["metadata"]["finalizers"] = [row.finalizer]
        await client.create(SECRETS, made, namespace="kube-system")
        if row.finalizer:
            await client.delete(SECRETS, name, namespace="kube-system")

        request = Request("GET", "/api/v1/pods", headers={"authorization": f"Bearer {row.shown}"})
        answer = await server.handle(request)
        status = (await client.create(REVIEWS, review(row.shown)))["status"]
        if row.groups:
            assert (answer.status, answer.body["message"].split('"')[1]) == (403, f"system:bootstrap:{ID}"), told
            known = {"username": f"system:bootstrap:{ID}", "groups": [*row.groups, "system:authenticated"]}
            assert (status["authenticated"], status["user"]) == (True, known), told
        else:
            assert (answer.status, answer.body["message"]) == (401, "Unauthorized"), told
            assert (status.get("authenticated"), status["error"]) == (None, "invalid bearer token"), told

        if row.finalizer:
            await client.patch(SECRETS, name, {"metadata": {"finalizers": None}}, namespace="kube-system")
        else:
            await client.delete(SECRETS, name, namespace="kube-system")


def secret(name: str, data: dict[str, str], type: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "type": type, "metadata": {"name": name}, "stringData": data}


def review(token: str) -> Object:
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
