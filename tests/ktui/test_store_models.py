"""What the Store screen's models make of the debug endpoints' answers."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.models.key_history import SHOWN, KeyAt, written_by
from ktui.models.keys import KeyFilter, folder_lines
from ktui.models.store_figures import StoreFigures
from ktui.models.store_stream import StoreStream

CAUSE = "00-93fb468d2dafeabb46e5fad364f5fb14-e5cafa8c0e1b513f-01"
WEB = "/registry/deployments/default/web"


def entry(revision: int, key: str = WEB, *, type: str = "PUT", version: int = 2) -> dict[str, Any]:
    return {
        "revision": revision, "sub": 0, "type": type, "key": key, "createRevision": 1, "version": version, "lease": 0,
        "size": 2048 if type == "PUT" else 0, "cause": CAUSE,
    }  # fmt: skip


def decided(revision: int, expected: int, *, succeeded: bool = True, wrote: bool = True) -> dict[str, Any]:
    compare = [{"key": WEB, "target": "mod", "op": "=", "value": expected}]
    return {
        "revision": revision, "wrote": wrote, "succeeded": succeeded, "compare": compare, "keys": [], "cause": CAUSE,
    }  # fmt: skip


def stream(*entries: dict[str, Any], txns: tuple[dict[str, Any], ...] = ()) -> StoreStream:
    made = StoreStream(writer=lambda cause: "kubernetes-admin" if cause == CAUSE else "")
    made.take({"revision": max(entry["revision"] for entry in entries), "entries": list(entries)}, txns)
    return made


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        pytest.param(
            stream(entry(8, version=1), txns=(decided(8, 0),)),
            ("8", "create", "deployments/default/web", "kubernetes-admin", "none ✓", "2.0 K"),
            id="a create expects no key",
        ),
        pytest.param(
            stream(entry(9), txns=(decided(9, 8),)),
            ("9", "put", "deployments/default/web", "kubernetes-admin", "8 ✓", "2.0 K"),
            id="an update expects the revision that was read",
        ),
        pytest.param(
            stream(entry(10, type="DELETE", version=0)),
            ("10", "delete", "deployments/default/web", "kubernetes-admin", "", ""),
            id="a delete of which the decision is no longer known",
        ),
        pytest.param(
            stream(entry(9), txns=(decided(9, 7, succeeded=False, wrote=False),)),
            ("", "refused", "deployments/default/web", "kubernetes-admin", "7 ✖", ""),
            id="a comparison that failed made no revision",
        ),
        pytest.param(
            stream(entry(9), txns=(decided(9, 9, wrote=False),)),
            ("9", "put", "deployments/default/web", "kubernetes-admin", "", "2.0 K"),
            id="a transaction that wrote nothing is no write",
        ),
    ],
)
def test_rows_of_the_stream(row: StoreStream, cells: tuple[str, ...]) -> None:
    assert row.rows()[0].cells == cells


def test_the_same_decision_told_again_is_one_row() -> None:
    refused = decided(9, 7, succeeded=False, wrote=False)
    made = stream(entry(9), txns=(refused,))
    made.take({"revision": 10, "entries": [entry(10)]}, [refused])
    assert [row.cells[1] for row in made.rows()] == ["put", "refused", "put"]


def test_entries_that_are_known_are_not_taken_again() -> None:
    made = stream(entry(8), entry(9))
    made.take({"revision": 10, "entries": [entry(9), entry(10)]}, [])
    assert [row.cells[0] for row in made.rows()] == ["10", "9", "8"]


@pytest.mark.parametrize("text", ["/pods", "/registry/pods", "DB", "pods !default", "blog/db"])
def test_only_keys_that_are_sought(text: str) -> None:
    made = stream(entry(8), entry(9, "/registry/pods/blog/db"))
    assert [row.cells[0] for row in made.rows(KeyFilter.parse(text))] == ["9"]


def test_a_held_stream_keeps_what_it_showed_and_counts_what_came() -> None:
    made = stream(entry(8), entry(9))
    made.hold()
    made.take({"revision": 12, "entries": [entry(10), entry(11), entry(12)]}, [])
    assert ([row.cells[0] for row in made.rows()], made.newer) == (["9", "8"], 3)
    made.flow()
    assert (len(made.rows()), made.newer) == (5, 0)


def test_what_is_skipped_is_counted_but_not_before_anything_was_seen() -> None:
    made = StoreStream()
    made.skip_to(500)
    assert made.skipped == 0
    made.skip_to(900)
    assert (made.skipped, made.revision) == (400, 900)


STATUS: dict[str, Any] = {
    "backend": "sqlite", "version": "3.40", "revision": 120, "compact_revision": 0, "db_size_in_use": 2**20,
    "keys": 90, "alarms": [],
    "details": {
        "batches": 60, "batch_p50": 2, "batch_max": 9, "commit_ms_p50": 4.1, "commit_ms_p99": 9.9, "txns": 200,
        "failed_compares": 4, "compactions": 0, "quota": 2**21, "quiet_revisions": {}, "refusing": "",
        "failed_batches": 0, "last_error": "",
        "recent_commits": [{"changes": 2, "ms": 4.0}, {"changes": 8, "ms": 2.0}],
    },
}  # fmt: skip
ONE: dict[str, Any] = {"simulated": False, "members": [{"name": "default", "state": "leader"}]}


def member(name: str, state: str, index: int, *, fsync: float, cut_off: bool = False) -> dict[str, Any]:
    return {
        "name": name, "state": state, "partitioned": cut_off, "matchIndex": index, "lag": 120 - index,
        "fsyncMs": fsync, "slowMs": 0,
    }  # fmt: skip


THREE: dict[str, Any] = {
    "simulated": True, "leader": "etcd-0", "term": 3, "index": 120, "commitIndex": 120, "hasQuorum": True,
    "elections": 2,
    "members": [
        member("etcd-0", "leader", 120, fsync=4.4),
        member("etcd-1", "follower", 60, fsync=5.0, cut_off=True),
        member("etcd-2", "stopped", 120, fsync=4.0),
    ],
}  # fmt: skip


def detail(**changed: Any) -> dict[str, Any]:
    return {"details": {**STATUS["details"], **changed}}


def words(figures: StoreFigures) -> list[str]:
    return [line.words for line in figures.lines(60)]


def figures(status: dict[str, Any] = STATUS, members: dict[str, Any] = ONE) -> StoreFigures:
    made = StoreFigures()
    made.take(status, members, at=10.0, now="12:00:00")
    return made


def test_commits_as_bars_and_their_fsync_times() -> None:
    said = words(figures())
    assert [line.split() for line in said[1:3]] == [["changes", "█", "8"], ["fsync", "█▄", "2.00", "ms"]]
    assert said[3] == "  p50 4.10 ms, p99 9.90 ms"
    assert "compare-and-swap ✓ 196  ✖ 4" in said


def test_a_rate_is_between_two_answers() -> None:
    made = figures()
    made.take({**STATUS, "details": {**STATUS["details"], "batches": 80}}, ONE, at=14.0)
    assert words(made)[0] == "commits 5.0/s"


def test_members_of_a_simulated_quorum() -> None:
    lines = figures(members=THREE).lines(60)
    at = next(index for index, line in enumerate(lines) if line.words.startswith("quorum"))
    assert [(line.words, line.tone) for line in lines[at : at + 4]] == [
        ("quorum~ etcd-0 leads, term 3", ""),
        ("  etcd-0 L ████████ 120  fsync~ 4.4 ms", "lane-etcd"),
        ("  etcd-1 f ████░░░░ 60  lag 60  cut off", "warning"),
        ("  etcd-2 ✖ ████████ 120  fsync~ 4.0 ms", "error"),
    ]


def test_without_a_quorum_that_is_said() -> None:
    lost = {**THREE, "leader": "", "hasQuorum": False}
    assert any(line.words == "quorum~ no leader" and line.tone == "error" for line in figures(members=lost).lines(60))


def test_compaction_and_what_is_kept() -> None:
    made = figures()
    assert words(made)[-3:-1] == ["never compacted", "kept rev 1 to 120"]
    quiet = {**STATUS["details"], "quiet_revisions": {"/registry/leases/kube-node-lease/": 110}}
    made.take({**STATUS, "compact_revision": 100, "details": quiet}, ONE, at=11.0, now="12:00:01")
    said = words(made)
    assert "compacted to rev 100 at 12:00:01" in said
    assert "kept rev 100 to 120" in said
    assert "  leases/kube-node-lease from rev 110" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"alarms": ["NOSPACE"]}, "✖ alarm NOSPACE", id="an alarm"),
        pytest.param(detail(refusing="disk full"), "✖ refuses writes: disk full", id="refusal"),
        pytest.param(detail(failed_batches=2), "✖ 2 commits failed", id="failed commits"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], said: str) -> None:
    assert said in words(figures({**STATUS, **change}))


def value(revision: int, version: int) -> dict[str, Any]:
    managed = [
        {"manager": "kubectl", "time": "2026-01-01T00:00:00Z"},
        {"manager": "kubelet", "subresource": "status", "time": "2026-01-01T00:00:05Z"},
    ]
    return {"modRevision": revision, "version": version, "value": {"metadata": {"managedFields": managed}}}


def test_a_key_is_compared_with_its_revision_before_or_with_a_marked_one() -> None:
    at = KeyAt(WEB, 9, value(9, 3), True, (value(8, 2), value(4, 1)))
    assert at.against == value(8, 2)
    assert [revision for revision, _, _ in at.history] == [4, 8, 9]
    older = tuple(value(8 - number, 8 - number) for number in range(SHOWN + 1))
    assert [revision for revision, _, _ in KeyAt(WEB, 9, value(9, 9), True, older).history] == [5, 6, 7, 8, 9]
    assert KeyAt(WEB, 9, value(9, 3), True, (value(8, 2),), marked=value(4, 1)).against == value(4, 1)
    assert KeyAt(WEB, 4, value(4, 1), False, (), marked=value(4, 1)).against is None
    assert KeyAt(WEB, 9, None, False).history == []  # deleted, and what it was has not come yet


def managed(*entries: tuple[str, str, str]) -> dict[str, Any]:
    """An object with managers, their subresources, and the seconds of their times."""
    told = [
        {
            "manager": manager,
            "operation": "Update",
            **({"subresource": subresource} if subresource else {}),
            **({"time": f"2026-01-01T00:00:{second}Z"} if second else {}),
        }
        for manager, subresource, second in entries
    ]
    return {"metadata": {"managedFields": told}}


def test_who_wrote_an_object_last() -> None:
    assert written_by(value(1, 1)["value"]) == "kubelet status"
    created = managed(("kubectl-create", "", "01"), ("kube-controller-manager", "status", "05"))
    assert written_by(created) == "kube-controller-manager status"
    scaled = managed(
        ("kubectl-create", "", "01"), ("kubectl", "scale", ""), ("kube-controller-manager", "status", "05")
    )
    assert written_by(scaled, created) == "kubectl scale"
    seen = managed(("kubectl-create", "", "01"), ("kubectl", "scale", ""), ("kube-controller-manager", "status", "07"))
    assert written_by(seen, scaled) == "kube-controller-manager status"
    assert written_by({**seen, "spec": {"replicas": 4}}, seen) == "kubectl scale"  # once more
    # A status within the second of the one before.
    assert written_by({**seen, "status": {"replicas": 4}}, seen) == "kube-controller-manager status"
    again = {**seen, "metadata": {**seen["metadata"], "resourceVersion": "9", "generation": 2}, "status": {}}
    assert written_by(again, seen) == "kube-controller-manager status"
    labelled = managed(
        ("kubectl-label", "", "07"), ("kubectl", "scale", ""), ("kube-controller-manager", "status", "07")
    )
    assert written_by(labelled, seen) == "kubectl-label"
    waiting = managed(("kube-controller-manager", "", "01"))
    assert written_by({**waiting, "spec": {"nodeName": "node-1"}}, waiting) == "binding"
    assert written_by({**waiting, "spec": "any"}, waiting) == "kube-controller-manager"
    assert not written_by({"metadata": {}})
    assert not written_by("no object")


def listed(key: str, created: int, changed: int, size: int, lease: int = 0) -> dict[str, Any]:
    return {
        "key": f"/registry/{key}", "createRevision": created, "modRevision": changed, "version": 1, "size": size,
        "lease": lease,
    }  # fmt: skip


def test_a_folder_is_told_by_the_keys_right_below_it() -> None:
    keys = [
        listed("pods/default/web", 5, 9, 700),
        listed("pods/default/db", 3, 12, 1348, lease=0xABC),
        listed("pods/kube-system/dns", 1, 20, 9000),
    ]
    assert folder_lines("/registry/pods/default/", keys, is_folded=False) == [
        "2 keys · 2.0 KiB · 1 with a lease",
        "newest   rev 12  db",
        "oldest   rev 3  db",
        "largest  1.3 KiB  db",
        "Enter folds these keys, z all",
    ]
    assert folder_lines("/registry/pods/default/", keys[:1], is_folded=True)[0] == "1 key · 700 B"
    assert folder_lines("/registry/gone/", keys, is_folded=True) == []
