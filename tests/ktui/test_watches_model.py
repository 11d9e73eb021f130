"""The Watches screen's rows and its ring."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.models.watches import WatchesModel, is_out_of_the_ring, lag, links_of, resource_of, state, who
from ktui.widgets.stream_details import stream_parts
from ktui.widgets.watch_ring import ring_lines


def watcher(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": number, "user": "system:node:node-1", "userAgent": "kubelet", "namespace": "",
        "selector": {"fields": "spec.nodeName=node-1"}, "cursor": 20, "sent": 2, "bytes": 2048, "buffered": 0,
        "ageSeconds": 5.0, **changes,
    }  # fmt: skip


def cache(
    *watchers: dict[str, Any],
    size: int = 10,
    revisions: tuple[int, ...] = (10, 20, 30),
    cut_off: int = 0,
    expired: int = 0,
) -> Any:
    ring = {
        "size": size, "used": len(revisions), "oldest": revisions[0] - 1, "newest": revisions[-1],
        "revisions": list(revisions),
    }  # fmt: skip
    return {"prefix": "/registry/pods", "ring": ring, "cutOff": cut_off, "expired": expired, "watchers": list(watchers)}


def informer(lists: int) -> dict[str, Any]:
    return {
        "resource": "pods", "objects": 3, "handlers": 1, "synced": True, "resourceVersion": "30", "lists": lists,
        "watches": lists,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("user", "agent", "name"),
    [
        ("system:node:node-1", "kubelet", "kubelet node-1"),
        ("system:kube-scheduler", "kube-scheduler", "kube-scheduler"),
        ("kubernetes-admin", "kubectl/v1.37.1 (linux/amd64)", "kubectl (kubernetes-admin)"),
        ("system:serviceaccount:kube-system:job-controller", "x", "job-controller"),
    ],
)
def test_who_watches(user: str, agent: str, name: str) -> None:
    assert who({"user": user, "userAgent": agent}) == name


@pytest.mark.parametrize(
    ("prefix", "resource"),
    [
        ("/registry/pods", "pods"),
        ("/registry/services/specs", "services"),
        ("/registry/apps.x.io/webs", "webs"),
        ("/registry/minions", "nodes"),
    ],
)
def test_the_resource_of_a_cache(prefix: str, resource: str) -> None:
    assert resource_of({"prefix": prefix}) == resource


@pytest.mark.parametrize(("buffered", "words"), [(0, "✓ in step"), (64, "◐ 64 wait"), (900, "✖ to be cut off")])
def test_how_a_stream_fares(buffered: int, words: str) -> None:
    assert state(cache(), watcher(buffered=buffered))[0] == words


def test_the_lag_is_what_the_ring_has_after_the_cursor() -> None:
    assert [lag(cache(), watcher(cursor=cursor)) for cursor in (5, 10, 25, 30)] == [3, 2, 1, 0]


def test_what_waits_in_the_buffer_of_a_slow_stream_counts_though_the_ring_has_lost_it() -> None:
    slow = watcher(cursor=5, buffered=38, bytes=38_514_278)
    assert lag(cache(size=3), slow) == 38
    text = "\n".join(part.plain for part in stream_parts(WatchesModel(), cache(slow, size=3), slow, colours={}))
    assert "38 behind the newest" in text
    assert "36.7 MiB over the wire" in text


def test_a_cursor_that_fell_out_of_a_full_ring_would_get_410() -> None:
    full = cache(size=3)
    assert is_out_of_the_ring(full, watcher(cursor=5))
    assert not is_out_of_the_ring(full, watcher(cursor=9))
    assert not is_out_of_the_ring(cache(), watcher(cursor=5))


def test_the_ring_has_a_mark_for_every_stream() -> None:
    pods = cache(watcher(), watcher(2, user="system:kube-scheduler", userAgent="kube-scheduler", cursor=30), size=3)
    lines = [line.plain for line in ring_lines(WatchesModel([pods]).ring(pods), 80, {})]
    assert "ring 3 of 3 changes" in lines[0]
    assert lines[1].startswith("10 ▕█")
    assert lines[1].endswith("█▏ 30")
    assert "▲ kubelet node-1" in lines[2]
    assert max(map(len, lines[1:])) <= 80


def test_who_is_at_the_newest_change_is_named_before_the_mark() -> None:
    pods = cache(watcher(cursor=30), watcher(2, user="system:kube-scheduler", cursor=30), size=3)
    marks = ring_lines(WatchesModel([pods]).ring(pods), 80, {})[2].plain
    assert marks.endswith("2 streams: kubelet node-1, kube-scheduler ▲")
    assert len(marks) <= 80


def test_a_stream_behind_the_ring_is_told_from_one_without_news() -> None:
    """The first has its events in its own buffer, and gets no 410. Of a thousand kubelets most are sent little."""
    fallen = cache(watcher(cursor=1, buffered=3), watcher(2, cursor=1), watcher(3, cursor=1), size=3)
    marks = ring_lines(WatchesModel([fallen]).ring(fallen), 80, {})[2].plain
    assert marks == "◐ 1 behind the ring, sent from the buffer · 2 had no news since"


def test_a_relist_and_a_stream_cut_off_are_noticed() -> None:
    model, name = WatchesModel(), "informers/kube-scheduler"
    model.take({"caches": [cache()], "informers": {name: [informer(1)]}, "queues": {}}, now="12:00:00")
    assert not model.told
    model.take(
        {"caches": [cache(cut_off=1, expired=2)], "informers": {name: [informer(2)]}, "queues": {}}, now="12:00:01"
    )
    assert list(model.told) == [
        "12:00:01 kube-scheduler listed pods again (410 or lost)",
        "12:00:01 pods: 2 began before the ring: 410 Expired, list again",
        "12:00:01 pods: 1 too slow, cut off",
    ]
    assert model.expired == 2


@pytest.mark.parametrize(
    ("user", "labels"),
    [
        pytest.param("system:node:node-1", ["nodes/node-1", "pods"], id="a kubelet"),
        pytest.param(
            "system:serviceaccount:kube-system:job-controller",
            ["serviceaccounts/job-controller", "pods"],
            id="a controller",
        ),
        pytest.param("kubernetes-admin", ["pods"], id="a person is no object"),
    ],
)
def test_a_stream_leads_to_who_watches_and_to_what_is_watched(user: str, labels: list[str]) -> None:
    stream = watcher(user=user)
    assert [link.label for link in links_of(cache(stream), stream)] == labels


def test_the_slowest_stream_comes_first_and_shows_its_informer() -> None:
    slow = watcher(2, user="system:kube-scheduler", userAgent="kube-scheduler", buffered=7)
    pods = cache(watcher(), slow)
    model = WatchesModel([pods], {"informers/kube-scheduler": [informer(1)]})
    assert [row.cells[0] for row in model.rows(wide=True)] == ["kube-scheduler", "kubelet node-1"]
    assert model.rows(wide=True)[1].cells[2] == "spec.nodeName=node-1"
    assert model.find("/registry/pods 2") == (pods, slow)
    text = "\n".join(part.plain for part in stream_parts(model, pods, slow, colours={}))
    for words in ("◐ 7 wait", "3 objects kept at rev 30", "1 list, 1 watch"):
        assert words in text
