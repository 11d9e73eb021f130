"""`ktui store ... -w protobuf`: the bytes that Debian's etcdctl writes of the same answers."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.store.protobuf import message

HEADER = {"cluster_id": 14841639068965178418, "member_id": 10276657743932975437, "revision": 2, "raft_term": 3}
WRITTEN = "08b298eaf1948386fccd0110cdd2918bd2b881cf8e0118022003"
KV = {"key": "YQ==", "create_revision": 2, "mod_revision": 2, "version": 1, "value": "Yg=="}


@pytest.mark.parametrize(
    ("kind", "document", "expected"),
    [
        pytest.param("PutResponse", {"header": HEADER}, f"0a1a{WRITTEN}", id="put"),
        pytest.param(
            "RangeResponse",
            {"header": HEADER, "kvs": [KV], "count": 1},
            f"0a1a{WRITTEN}120c0a01611002180220012a01622001",
            id="get",
        ),
        pytest.param("RangeResponse", {"header": HEADER}, f"0a1a{WRITTEN}", id="get of nothing"),
        pytest.param(
            "DeleteRangeResponse",
            {"header": HEADER, "deleted": 1, "prev_kvs": [KV]},
            f"0a1a{WRITTEN}10011a0c0a01611002180220012a0162",
            id="del --prev-kv",
        ),
        pytest.param(
            "TxnResponse",
            {"header": HEADER, "responses": [{"Response": {"ResponseRange": {"header": {"revision": 3}}}}]},
            f"0a1a{WRITTEN}1a060a040a021803",
            id="txn",
        ),
        pytest.param(
            "WatchResponse",
            {"Header": HEADER, "Events": [{"kv": KV}], "CompactRevision": 0, "Canceled": False, "Created": False},
            f"0a1a{WRITTEN}5a0e120c0a01611002180220012a0162",
            id="watch",
        ),
        pytest.param("ResponseHeader", {**HEADER, "ID": 7, "TTL": 100}, WRITTEN, id="lease grant: the header alone"),
        pytest.param(
            "MemberListResponse",
            {"members": [{"ID": 5, "name": "n", "peerURLs": ["p"], "clientURLs": ["c", "d"], "isLearner": True}]},
            "1210080512016e1a01702201632201642801",
            id="member list",
        ),
        pytest.param("AlarmResponse", {"alarms": [{"memberID": 5, "alarm": 1}]}, "120408051001", id="alarm list"),
        pytest.param("KeyValue", {"lease": -1}, "30ffffffffffffffffff01", id="below zero"),
    ],
)
def test_answers_on_the_wire(kind: str, document: dict[str, Any], expected: str) -> None:
    assert message(kind, document).hex() == expected
