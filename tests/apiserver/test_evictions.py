"""Evictions and what PodDisruptionBudgets say to them (after pkg/registry/core/pod/storage/eviction_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.api.wire import MERGE_PATCH
from engine.client import Client
from tests.apiserver.conftest import pod

BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")
READY = {"type": "Ready", "status": "True"}
RUNNING: Object = {"phase": "Running", "conditions": [READY]}
UNREADY: Object = {"phase": "Running"}
NO_MORE = "Cannot evict pod as it would violate the pod's disruption budget."
_FORBIDDEN = 'poddisruptionbudget.policy "web" is forbidden: '
_TOO_BIG = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"

# The Pod's status, the budget's spec and status -> code, message and cause of the refusal; None for none.
ROWS: dict[str, tuple[Object, Object, Object, tuple[int, str, str] | None]] = {
    "allowed": (RUNNING, {}, {"disruptionsAllowed": 1}, None),
    "no more": (
        RUNNING, {}, {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 2},
        (429, NO_MORE, "The disruption budget web needs 2 healthy pods and has 2 currently"),
    ),
    "not seen yet": (
        RUNNING, {}, {"disruptionsAllowed": 1, "observedGeneration": 0},
        (429, NO_MORE, "The disruption budget web is still being processed by the server."),
    ),
    "failed to sync": (
        RUNNING, {},
        {"disruptionsAllowed": 0, "conditions": [
            {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no scale",
             "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]},
        (429, NO_MORE, "The disruption budget web does not allow evicting pods currently because it failed sync: "
         "no scale"),
    ),
    "too many that are not confirmed": (
        RUNNING, {},
        {"disruptionsAllowed": 1, "disruptedPods": {f"p{i}": "2026-01-01T00:00:00Z" for i in range(2001)}},
        (403, f"{_FORBIDDEN}{_TOO_BIG}", _TOO_BIG),
    ),
    "a Pod that waits": ({"phase": "Pending"}, {}, {"disruptionsAllowed": 0}, None),
    "a Pod that has ended": ({"phase": "Succeeded"}, {}, {"disruptionsAllowed": 0}, None),
    "a Pod that has failed": ({"phase": "Failed"}, {}, {"disruptionsAllowed": 0}, None),
    "unready, and enough are healthy": (
        UNREADY, {}, {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 2}, None,
    ),
    "unready, and too few are healthy": (
        UNREADY, {}, {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 1},
        (429, NO_MORE, "The disruption budget web needs 2 healthy pods and has 1 currently"),
    ),
    "unready, and none is wanted": (
        UNREADY, {}, {"disruptionsAllowed": 0},
        (429, NO_MORE, "The disruption budget web needs 0 healthy pods and has 0 currently"),
    ),
    "unready, which may always go": (
        UNREADY, {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
        {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 1}, None,
    ),
    "ready, though the unready may go": (
        RUNNING, {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
        {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 1},
        (429, NO_MORE, "The disruption budget web needs 2 healthy pods and has 1 currently"),
    ),
}  # fmt: skip


async def make_pod(client: Client, status: Object) -> None:
    sent = pod("web", nodeName="a")
    sent["metadata"]["labels"] = {"app": "web"}
    await client.create(PODS, sent, namespace="default")
    await client.patch(PODS, "web", {"status": status}, namespace="default", subresource="status")


async def make_budget(client: Client, name: str, spec: Object, status: Object) -> None:
    selector = {"matchLabels": {"app": "web"}}
    budget = {"metadata": {"name": name}, "spec": {"minAvailable": 1, "selector": selector, **spec}}
    await client.create(BUDGETS, budget, namespace="default")
    full = {"observedGeneration": 1, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0, **status}
    await client.patch(
        BUDGETS, name, {"status": full}, namespace="default", subresource="status", content_type=MERGE_PATCH
    )


async def evict(client: Client, **fields: Any) -> Object:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}, **fields}
    return await client.create(PODS, eviction, namespace="default", name="web", subresource="eviction")


@pytest.mark.parametrize("name", ROWS)
async def test_a_budget_is_asked(name: str, client: Client, default_account: Object) -> None:
    of_pod, spec, status, refusal = ROWS[name]
    await make_pod(client, of_pod)
    await make_budget(client, "web", spec, status)
    if refusal is None:
        assert (await evict(client))["status"] == "Success"
        return
    code, message, cause = refusal
    with pytest.raises(ApiError) as caught:
        await evict(client)
    assert (caught.value.code, caught.value.message) == (code, message)
    if cause:
        assert caught.value.details is not None
        reason = "DisruptionBudgetTooManyDisruptedPods" if code == 403 else "DisruptionBudget"
        assert caught.value.details["causes"] == [{"reason": reason, "message": cause}]


async def test_the_last_disruption_is_booked_and_said(client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    await make_budget(client, "web", {}, {"disruptionsAllowed": 1})
    await evict(client)
    status = (await client.get(BUDGETS, "web", namespace="default"))["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["web"])
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed", "False", "InsufficientPods",
    )  # fmt: skip


async def test_a_dry_run_books_nothing(client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    await make_budget(client, "web", {}, {"disruptionsAllowed": 1})
    await evict(client, deleteOptions={"dryRun": ["All"]})
    assert "deletionTimestamp" not in (await client.get(PODS, "web", namespace="default"))["metadata"]
    assert (await client.get(BUDGETS, "web", namespace="default"))["status"]["disruptionsAllowed"] == 1


async def test_the_pod_says_why_it_goes(client: Client, default_account: Object) -> None:
    """A Job's podFailurePolicy tells by it an eviction from a failure."""
    await make_pod(client, RUNNING)
    await client.patch(PODS, "web", {"metadata": {"finalizers": ["example.com/keep"]}}, namespace="default")
    before = await client.get(PODS, "web", namespace="default")

    await evict(client, deleteOptions={"preconditions": {"resourceVersion": before["metadata"]["resourceVersion"]}})

    going = await client.get(PODS, "web", namespace="default")
    condition = next(c for c in going["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert "deletionTimestamp" in going["metadata"]
    assert (condition["status"], condition["reason"], condition["message"], condition["observedGeneration"]) == (
        "True", "EvictionByEvictionAPI", "Eviction API: evicting", before["metadata"]["generation"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("demanded", "why"),
    [
        pytest.param("uid", "the UID in the precondition (1) does not match the UID in record ({}). The object might "
                     "have been deleted and then recreated", id="uid"),
        pytest.param("resourceVersion", "the ResourceVersion in the precondition (1) does not match the "
                     "ResourceVersion in record ({}). The object might have been modified", id="version"),
    ],
)  # fmt: skip
async def test_an_eviction_of_another_pod_is_refused(
    demanded: str, why: str, client: Client, default_account: Object
) -> None:
    await make_pod(client, RUNNING)
    kept = (await client.get(PODS, "web", namespace="default"))["metadata"][demanded]
    with pytest.raises(ApiError) as caught:
        await evict(client, deleteOptions={"preconditions": {demanded: "1"}})
    assert caught.value.message == f'Operation cannot be fulfilled on Pod "web": {why.format(kept)}'


@pytest.mark.parametrize("metadata", [{}, {"name": "other"}, {"namespace": "default"}])
async def test_an_eviction_names_its_pod(metadata: Object, client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    with pytest.raises(ApiError) as caught:
        await evict(client, metadata=metadata)
    assert (caught.value.code, caught.value.message) == (400, "name in URL does not match name in Eviction object")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        pytest.param({"dryRun": ["All", "All"]}, 500,
                     "Non-matching dry-run options in request and content: [All] and [All All]", id="dryRun"),
        pytest.param({"ignoreStoreReadErrorWithClusterBreakingPotential": True}, 422,
                     'Eviction.policy "web" is invalid: deleteOptions.'
                     "ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: "
                     "can not be set for pod eviction, try after removing the option",
                     id="unsafe"),
    ],
)  # fmt: skip
async def test_an_eviction_deletes_as_its_request_says(
    options: Object, code: int, message: str, client: Client, default_account: Object
) -> None:
    await make_pod(client, RUNNING)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}, "deleteOptions": options}
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, eviction, namespace="default", name="web", subresource="eviction", dry_run=True)
    assert (caught.value.code, caught.value.message) == (code, message)


async def test_two_budgets_are_too_many(client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    for name in ("web", "other"):
        await make_budget(client, name, {}, {"disruptionsAllowed": 1})
    with pytest.raises(ApiError) as caught:
        await evict(client)
    assert (caught.value.code, caught.value.message) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )


async def test_an_eviction_is_of_the_pod_of_its_path(client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    with pytest.raises(ApiError, match="name in URL does not match name in Eviction object"):
        await evict(client, metadata={"name": "other"})


async def test_an_eviction_of_the_first_version_is_taken_too(client: Client, default_account: Object) -> None:
    await make_pod(client, RUNNING)
    await evict(client, apiVersion="policy/v1beta1")
    with pytest.raises(ApiError, match='no kind "Eviction" is registered for version "policy/v1beta2"'):
        await evict(client, apiVersion="policy/v1beta2")
