"""What `ktui store` prints: etcdctl's four output formats (etcdctl/ctlv3/command printer*.go).

Documents come as the debug endpoints send them: etcd's JSON, keys and values in base64.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

Document = Mapping[str, Any]


def encoded(document: Any) -> str:
    return orjson.dumps(document).decode()


# -- key-values and events


def simple_kv(kv: Document, *, value_only: bool = False, as_hex: bool = False) -> Iterator[str]:
    shown = _hexadecimal if as_hex else _text
    if not value_only:
        yield shown(kv.get("key", ""))
    yield shown(kv.get("value", ""))


def simple_events(response: Document, *, as_hex: bool = False) -> Iterator[str]:
    for event in response["Events"] or ():
        yield "DELETE" if event.get("type") else "PUT"
        if "prev_kv" in event:
            yield from simple_kv(event["prev_kv"], as_hex=as_hex)
        yield from simple_kv(event["kv"], as_hex=as_hex)


def fields_range(response: Document) -> Iterator[str]:
    yield from fields_header(response["header"])
    for kv in response.get("kvs", ()):
        yield from fields_kv(kv)
    yield _field("More", _boolean(response.get("more", False)))
    yield _field("Count", response.get("count", 0))


def fields_events(response: Document) -> Iterator[str]:
    yield from fields_header(response["Header"])
    for event in response["Events"] or ():
        yield _field("Type", "DELETE" if event.get("type") else "PUT")
        if "prev_kv" in event:
            yield from fields_kv(event["prev_kv"], prefix="Prev")
        yield from fields_kv(event["kv"])


def fields_header(header: Document) -> Iterator[str]:
    yield _field("ClusterID", header.get("cluster_id", 0))
    yield _field("MemberID", header.get("member_id", 0))
    yield _field("Revision", header.get("revision", 0))
    yield _field("RaftTerm", header.get("raft_term", 0))


def fields_kv(kv: Document, *, prefix: str = "") -> Iterator[str]:
    yield _field(f"{prefix}Key", go_quoted(b64decode(kv.get("key", ""))))
    yield _field(f"{prefix}CreateRevision", kv.get("create_revision", 0))
    yield _field(f"{prefix}ModRevision", kv.get("mod_revision", 0))
    yield _field(f"{prefix}Version", kv.get("version", 0))
    yield _field(f"{prefix}Value", go_quoted(b64decode(kv.get("value", ""))))
    yield _field(f"{prefix}Lease", kv.get("lease", 0))


def _field(name: str, value: object) -> str:
    return f'"{name}" : {value}'


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _text(encoded_text: str) -> str:
    return b64decode(encoded_text).decode(errors="surrogateescape")


def _hexadecimal(encoded_text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in b64decode(encoded_text))


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def go_quoted(data: bytes) -> str:
    """Bytes as Go's %q prints them."""
    parts = []
    for character in data.decode(errors="surrogateescape"):
        code = ord(character)
        if character in _ESCAPES:
            parts.append(_ESCAPES[character])
        elif 0xDC80 <= code <= 0xDCFF:
            parts.append(f"\\x{code - 0xDC00:02x}")
        elif character.isprintable():
            parts.append(character)
        elif code < 0x80:
            parts.append(f"\\x{code:02x}")
        else:
            parts.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return f'"{"".join(parts)}"'


# -- writes


def simple_put(response: Document) -> Iterator[str]:
    yield "OK"
    if "prev_kv" in response:
        yield from simple_kv(response["prev_kv"])


def fields_put(response: Document) -> Iterator[str]:
    yield from fields_header(response["header"])
    if "prev_kv" in response:
        yield from fields_kv(response["prev_kv"], prefix="Prev")


def simple_delete(response: Document) -> Iterator[str]:
    yield str(response.get("deleted", 0))
    for kv in response.get("prev_kvs", ()):
        yield from simple_kv(kv)


def fields_delete(response: Document) -> Iterator[str]:
    yield from fields_header(response["header"])
    yield _field("Deleted", response.get("deleted", 0))
    for kv in response.get("prev_kvs", ()):
        yield from fields_kv(kv, prefix="Prev")


def simple_range(response: Document) -> Iterator[str]:
    for kv in response.get("kvs", ()):
        yield from simple_kv(kv)


_SIMPLE = {"ResponseRange": simple_range, "ResponsePut": simple_put, "ResponseDeleteRange": simple_delete}
_FIELDS = {"ResponseRange": fields_range, "ResponsePut": fields_put, "ResponseDeleteRange": fields_delete}


def simple_txn(response: Document) -> Iterator[str]:
    yield "SUCCESS" if response.get("succeeded") else "FAILURE"
    for each in response.get("responses", ()):
        for kind, found in each["Response"].items():
            yield ""
            yield from _SIMPLE[kind](found)


def fields_txn(response: Document) -> Iterator[str]:
    yield from fields_header(response["header"])
    yield _field("Succeeded", _boolean(response.get("succeeded", False)))
    for each in response.get("responses", ()):
        for kind, found in each["Response"].items():
            yield from _FIELDS[kind](found)


# -- members and snapshots

ENDPOINT_HEADERS = (
    "ENDPOINT",
    "ID",
    "VERSION",
    "DB SIZE",
    "IS LEADER",
    "IS LEARNER",
    "RAFT TERM",
    "RAFT INDEX",
    "RAFT APPLIED INDEX",
    "ERRORS",
)
MEMBER_HEADERS = ("ID", "STATUS", "NAME", "PEER ADDRS", "CLIENT ADDRS", "IS LEARNER")
STATE_HEADERS = ("ID", "NAME", "STATE", "TERM", "MATCH INDEX", "LAG", "FSYNC", "DELAY", "ERRORS")
HASH_HEADERS = ("ENDPOINT", "HASH")
HEALTH_HEADERS = ("ENDPOINT", "HEALTH", "TOOK", "ERROR")
SNAPSHOT_HEADERS = ("HASH", "REVISION", "TOTAL KEYS", "TOTAL SIZE")


def endpoint_row(endpoint: Document) -> list[str]:
    status = endpoint["Status"]
    member = status["header"]["member_id"]
    return [
        endpoint["Endpoint"],
        f"{member:x}",
        status["version"],
        human_size(status["dbSize"]),
        _boolean(bool(member) and member == status["leader"]),  # of one that does not answer nothing is known
        "false",
        str(status["raftTerm"]),
        str(status["raftIndex"]),
        str(status["raftAppliedIndex"]),
        ", ".join(status.get("errors", ())),
    ]


def fields_endpoint(endpoint: Document) -> Iterator[str]:
    status = endpoint["Status"]
    yield from fields_header(status["header"])
    yield _field("Version", go_quoted(status["version"].encode()))
    yield _field("DBSize", status["dbSize"])
    yield _field("Leader", status["leader"])
    yield _field("IsLearner", "false")
    yield _field("RaftIndex", status["raftIndex"])
    yield _field("RaftTerm", status["raftTerm"])
    yield _field("RaftAppliedIndex", status["raftAppliedIndex"])
    yield _field("Errors", f"[{' '.join(status.get('errors', ()))}]")
    yield _field("Endpoint", go_quoted(endpoint["Endpoint"].encode()))
    yield ""


def member_row(member: Document) -> list[str]:
    return [
        f"{member['ID']:x}",
        "started" if member.get("name") else "unstarted",
        member.get("name", ""),
        ",".join(member.get("peerURLs", ())),
        ",".join(member.get("clientURLs", ())),
        _boolean(member.get("isLearner", False)),
    ]


def fields_members(response: Document) -> Iterator[str]:
    yield from fields_header(response["header"])
    for member in response["members"]:
        yield _field("ID", member["ID"])
        yield _field("Name", go_quoted(member.get("name", "").encode()))
        for name, urls in (("PeerURL", member.get("peerURLs", ())), ("ClientURL", member.get("clientURLs", ()))):
            for url in urls:
                yield _field(name, go_quoted(url.encode()))
        yield _field("IsLearner", _boolean(member.get("isLearner", False)))
        yield ""


def state_row(document: Document, member: Document) -> list[str]:
    """A member as the debug endpoint tells of it; of a real one less is known."""
    state = member["state"] + (" (partitioned)" if member.get("partitioned") else "")
    return [
        member["id"],
        member["name"],
        f"{state} (simulated)" if document["simulated"] else state,
        str(member.get("term", document.get("term", 0))),
        str(member["matchIndex"]),
        str(member.get("lag", "")),
        _milliseconds(member, "fsyncMs"),
        _milliseconds(member, "slowMs"),
        ", ".join(member.get("errors", ())),
    ]


def _milliseconds(member: Document, field: str) -> str:
    return f"{member[field]:g}ms" if field in member else ""


def fields_states(document: Document) -> Iterator[str]:
    yield _field("Simulated", _boolean(document["simulated"]))
    for name in ("leader", "term", "index", "commitIndex", "quorum", "elections"):
        if name in document:
            shown = document[name]
            yield _field(name[0].upper() + name[1:], go_quoted(shown.encode()) if isinstance(shown, str) else shown)
    yield ""
    for member in document["members"]:
        for name, value in zip(STATE_HEADERS, state_row(document, member), strict=True):
            shown_name = name if name == "ID" else name.title().replace(" ", "")
            yield _field(shown_name, go_quoted(value.encode()))
        yield ""


def hash_row(found: Document) -> list[str]:
    return [found["Endpoint"], str(found["HashKV"]["hash"])]


def fields_hash(found: Document) -> Iterator[str]:
    yield from fields_header(found["HashKV"]["header"])
    yield _field("Endpoint", go_quoted(found["Endpoint"].encode()))
    yield _field("Hash", found["HashKV"]["hash"])
    yield ""


def simple_health(health: Document) -> str:
    if health["health"]:
        return f"{health['endpoint']} is healthy: successfully committed proposal: took = {health['took']}"
    return f"{health['endpoint']} is unhealthy: failed to commit proposal: {health['error']}"


def health_row(health: Document) -> list[str]:
    return [health["endpoint"], _boolean(health["health"]), health["took"], health.get("error", "")]


def fields_health(health: Document) -> Iterator[str]:
    yield _field("Endpoint", go_quoted(health["endpoint"].encode()))
    yield _field("Health", _boolean(health["health"]))
    yield _field("Took", health["took"])
    yield _field("Error", health.get("error", ""))
    yield ""


# -- leases and alarms

_ALARMS = {1: "NOSPACE", 2: "CORRUPT"}


def simple_lease(lease: Document, *, keys: bool) -> str:
    if not lease["granted-ttl"]:
        return f"lease {lease['id']:016x} already expired"
    text = f"lease {lease['id']:016x} granted with TTL({lease['granted-ttl']}s), remaining({lease['ttl']}s)"
    return f"{text}, attached keys([{' '.join(_text(key) for key in lease['keys'] or ())}])" if keys else text


def fields_lease(lease: Document) -> Iterator[str]:
    yield from fields_header(lease)
    yield _field("ID", lease["id"])
    yield _field("TTL", lease["ttl"])
    yield _field("GrantedTTL", lease["granted-ttl"])
    for key in lease["keys"] or ():
        yield _field("Key", go_quoted(b64decode(key)))


def fields_lease_answer(response: Document) -> Iterator[str]:
    """What granting and keeping alive answer."""
    yield from fields_header(response)
    yield _field("ID", response["ID"])
    yield _field("TTL", response["TTL"])


def fields_leases(response: Document) -> Iterator[str]:
    yield from fields_header(response)
    for lease in response["leases"]:
        yield _field("ID", lease["id"])


def simple_alarms(response: Document) -> Iterator[str]:
    for alarm in response.get("alarms", ()):
        yield f"memberID:{alarm['memberID']} alarm:{_ALARMS[alarm['alarm']]} "


def fields_alarms(response: Document) -> Iterator[str]:
    for alarm in response.get("alarms", ()):
        yield _field("MemberID", alarm["memberID"])
        yield _field("AlarmType", _ALARMS[alarm["alarm"]])
        yield ""


def snapshot_row(snapshot: Document) -> list[str]:
    return [
        f"{snapshot['hash']:x}",
        str(snapshot["revision"]),
        str(snapshot["totalKey"]),
        human_size(snapshot["totalSize"]),
    ]


def fields_snapshot(snapshot: Document) -> Iterator[str]:
    yield _field("Hash", snapshot["hash"])
    yield _field("Revision", snapshot["revision"])
    yield _field("Keys", snapshot["totalKey"])
    yield _field("Size", snapshot["totalSize"])


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table as tablewriter draws it: headers in the middle, cells to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(headers, *rows, strict=True)]
    rule = "+".join(["", *("-" * (width + 2) for width in widths), ""])
    yield rule
    yield _line([_centred(header, width) for header, width in zip(headers, widths, strict=True)])
    yield rule
    for row in rows:
        yield _line([cell.rjust(width) for cell, width in zip(row, widths, strict=True)])
    yield rule


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _centred(text: str, width: int) -> str:
    left = (width - len(text)) // 2
    return " " * left + text + " " * (width - len(text) - left)


def human_size(size: int) -> str:
    """As go-humanize's Bytes: 20480 is 20 kB."""
    if size < 10:
        return f"{size} B"
    value, unit = float(size), 0
    while value >= 1000 and unit < 6:
        value /= 1000
        unit += 1
    value = int(value * 10 + 0.5) / 10
    return f"{value:.{0 if value >= 10 else 1}f} {('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[unit]}"
