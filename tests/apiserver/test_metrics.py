"""/metrics, as Prometheus reads it."""

from __future__ import annotations

import re

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, PODS
from engine.client import Client
from tests.apiserver.conftest import ClientFor, config_map

_LINE = re.compile(r'^[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [-+0-9.e]+$')


async def page(client: Client) -> dict[str, float]:
    body = (await client.send("GET", "/metrics")).body
    samples = {}
    for line in body.decode().splitlines():
        if not line.startswith("#"):
            assert _LINE.match(line), line
            name, _, value = line.rpartition(" ")
            samples[name] = float(value)
    return samples


def total(verb: str, resource: str, scope: str, code: int, *, dry_run: str = "", subresource: str = "") -> str:
    return (
        f'apiserver_request_total{{code="{code}",component="apiserver",dry_run="{dry_run}",group="",'
        f'resource="{resource}",scope="{scope}",subresource="{subresource}",verb="{verb}",version="v1"}}'
    )


async def test_requests_are_counted_by_what_they_are_about(client: Client, client_for: ClientFor) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    await client.create(CONFIGMAPS, config_map("b"), namespace="default", dry_run=True)
    await client.get(CONFIGMAPS, "a", namespace="default")
    await client.list(CONFIGMAPS, namespace="default")
    await client.list(CONFIGMAPS)
    await client.delete(CONFIGMAPS, "a", namespace="default")
    with pytest.raises(ApiError):
        await client.get(PODS, "none", namespace="default")
    with pytest.raises(ApiError):
        await client_for("jane").list(PODS)  # is refused before any handler
    found = await page(client)
    for name in (
        total("POST", "configmaps", "resource", 201),
        total("POST", "configmaps", "resource", 201, dry_run="All"),
        total("GET", "configmaps", "resource", 200),
        total("LIST", "configmaps", "namespace", 200),
        total("LIST", "configmaps", "cluster", 200),
        total("DELETE", "configmaps", "resource", 200),
        total("GET", "pods", "resource", 404),
    ):
        assert found.get(name) == 1, name
    assert not any('resource="pods",scope="cluster"' in name and name.startswith("apiserver_request") for name in found)


async def test_durations_are_a_histogram(client: Client) -> None:
    for _ in range(3):
        await client.list(CONFIGMAPS)
    labels = (
        'component="apiserver",dry_run="",group="",resource="configmaps",scope="cluster",subresource="",verb="LIST",'
        'version="v1"'
    )
    found = await page(client)
    assert found[f"apiserver_request_duration_seconds_count{{{labels}}}"] == 3
    assert found[f'apiserver_request_duration_seconds_bucket{{{labels},le="+Inf"}}'] == 3
    assert found[f"apiserver_request_duration_seconds_sum{{{labels}}}"] > 0
    bounds = [name for name in found if name.startswith(f"apiserver_request_duration_seconds_bucket{{{labels}")]
    assert [found[bound] for bound in bounds] == sorted(found[bound] for bound in bounds)


async def test_what_is_under_way_is_shown(client: Client) -> None:
    watch = await client.send("GET", "/api/v1/namespaces/default/configmaps", query={"watch": ["true"]})
    assert watch.events is not None
    found = await page(client)
    assert found['apiserver_current_inflight_requests{request_kind="readOnly"}'] == 1  # the page itself
    assert found['apiserver_current_inflight_requests{request_kind="mutating"}'] == 0
    open_ = (
        'apiserver_longrunning_requests{component="apiserver",resource="configmaps",scope="namespace",subresource="",'
        'verb="WATCH"}'
    )
    assert found[open_] == 1
    await watch.events.aclose()
    assert open_ not in await page(client)
