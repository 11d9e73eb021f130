"""`ktui store`: etcdctl's words, flags and output on the store of a running cluster."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ktui.store.printers import ENDPOINT_HEADERS, endpoint_row
from tests.engine_process import TIMEOUT, Home, Ran
from tests.ktui.here import Here, runner

MAPS = "/registry/configmaps/default/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One cluster of nothing but the API server, with two ConfigMaps, the first of which was changed."""
    home = Home(tmp_path_factory.mktemp("store") / "home")
    home.up("--components=apiserver")
    for name in ("one", "two"):
        home.kubectl("create", "configmap", name, "--from-literal=is=new").ok()
    home.kubectl("patch", "configmap", "one", '--patch={"data":{"is":"changed"}}').ok()
    yield home
    for folder in home.path.iterdir():
        if home.folder(folder.name).find_running() is not None:
            home.stop(folder.name)


def document(home: Home, *words: str) -> dict[str, Any]:
    found = json.loads(home.ktui("store", *words, "-w", "json").ok())
    assert isinstance(found, dict)
    return found


@pytest.fixture
def here(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Here:
    """`ktui store` in this process."""
    return runner(home, monkeypatch, capfd, "store")


def at_any_revision(ran: Ran) -> Ran:
    """An answer without the revision of its moment, which goes on as the API server renews its Lease."""
    return replace(ran, out=re.sub(r'("revision":|"Revision" : )\d+', r"\1…", ran.out))


def test_get_prints_key_and_value_by_turns(home: Home) -> None:
    lines = home.ktui("store", "get", MAPS, "--prefix").ok().splitlines()
    assert lines[0::2] == [f"{MAPS}one", f"{MAPS}two"]
    assert [json.loads(line)["data"]["is"] for line in lines[1::2]] == ["changed", "new"]
    (value,) = home.ktui("store", "get", f"{MAPS}two", "--print-value-only").ok().splitlines()
    assert value == lines[3]
    assert home.ktui("store", "get", MAPS, "--prefix", "--keys-only").ok() == f"{MAPS}one\n\n{MAPS}two\n\n"
    assert home.ktui("store", "get", f"{MAPS}none").ok() == ""


def test_get_as_json_is_what_etcdctl_prints(home: Home) -> None:
    found = json.loads(home.ktui("store", "get", MAPS, "--prefix", "-w", "json").ok())
    assert list(found) == ["header", "kvs", "count"]
    assert list(found["header"]) == ["cluster_id", "member_id", "revision", "raft_term"]
    first, second = found["kvs"]
    assert list(first) == ["key", "create_revision", "mod_revision", "version", "value"]
    assert b64decode(first["key"]).decode() == f"{MAPS}one"
    assert (first["version"], second["version"], found["count"]) == (2, 1, 2)
    assert first["create_revision"] < second["create_revision"] < first["mod_revision"] <= found["header"]["revision"]
    assert json.loads(b64decode(first["value"]))["metadata"]["name"] == "one"


def test_get_an_interval_a_limit_and_a_revision(home: Home) -> None:
    found = document(home, "get", f"{MAPS}a", f"{MAPS}z", "--limit", "1")
    assert (len(found["kvs"]), found["more"], found["count"]) == (1, True, 2)
    whole = json.loads(home.ktui("store", "get", MAPS, "--prefix", "-w", "json").ok())
    created = whole["kvs"][1]["mod_revision"]
    before = home.ktui("store", "get", f"{MAPS}one", "--rev", str(created), "--print-value-only").ok()
    assert json.loads(before)["data"]["is"] == "new"


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        pytest.param(["--order", "DESCEND"], ["two", "one"], id="keys backwards"),
        pytest.param(["--sort-by", "MODIFY"], ["two", "one"], id="by mod revision"),
        pytest.param(["--sort-by", "CREATE"], ["one", "two"], id="by create revision"),
        pytest.param(["--sort-by", "VERSION", "--order", "DESCEND"], ["one", "two"], id="by version, most first"),
    ],
)
def test_get_sorts(home: Home, flags: list[str], names: list[str]) -> None:
    lines = home.ktui("store", "get", MAPS, "--prefix", "--keys-only", *flags).ok().split()
    assert [line.removeprefix(MAPS) for line in lines] == names


def test_get_counts(home: Home) -> None:
    lines = home.ktui("store", "get", MAPS, "--prefix", "--count-only", "-w", "fields").ok().splitlines()
    assert [line.split(" : ")[0] for line in lines] == [
        '"ClusterID"',
        '"MemberID"',
        '"Revision"',
        '"RaftTerm"',
        '"More"',
        '"Count"',
    ]
    assert lines[-1] == '"Count" : 2'


def test_get_more_keys_than_are_asked_for_at_once(home: Home) -> None:
    everything = document(home, "get", "", "--prefix", "--keys-only")
    keys = [b64decode(kv["key"]) for kv in everything["kvs"]]
    assert keys == sorted(set(keys))
    assert len(keys) == everything["count"]


FUTURE = "etcdserver: mvcc: required revision is a future revision"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param("get /a --rev 999999", 1, FUTURE, id="get of the future"),
        pytest.param("compact 999999", 1, FUTURE, id="compact the future"),
        pytest.param("compact", 128, "compaction command needs 1 argument", id="compact what"),
        pytest.param("compact 1 2", 128, "compaction command needs 1 argument", id="compact twice"),
        pytest.param("compact x", 1, 'strconv.ParseInt: parsing "x": invalid syntax', id="compact no number"),
        pytest.param(
            "get", 128, "get command needs one argument as key and an optional argument as range_end", id="get what"
        ),
        pytest.param(
            "get /a /b --prefix",
            128,
            "too many arguments, only accept one argument when `--prefix` or `--from-key` is set",
            id="a prefix and an end",
        ),
        pytest.param(
            "get /a --prefix --from-key",
            128,
            "`--prefix` and `--from-key` cannot be set at the same time, choose one",
            id="prefix and from-key",
        ),
        pytest.param(
            "get /a --keys-only --count-only",
            128,
            "`--keys-only` and `--count-only` cannot be set at the same time, choose one",
            id="keys and count",
        ),
        pytest.param("get /a --sort-by FOO", 4, "bad sort target FOO", id="target"),
        pytest.param("get /a --order FOO", 4, "bad sort order FOO", id="order"),
        pytest.param("get /a --consistency x", 4, 'unknown consistency flag "x"', id="consistency"),
        pytest.param(
            "get /a --limit x",
            1,
            'invalid argument "x" for "--limit" flag: strconv.ParseInt: parsing "x": invalid syntax',
            id="no limit",
        ),
        pytest.param(
            "watch /a --rev 99999999999999999999",
            1,
            'invalid argument "99999999999999999999" for "--rev" flag: strconv.ParseInt: parsing '
            '"99999999999999999999": value out of range',
            id="no revision of 64 bits",
        ),
        pytest.param("get /a -w table", 4, "table not supported as output format", id="no table"),
        pytest.param("get /a -w yaml", 4, "unsupported output format", id="no such format"),
        pytest.param(
            "get /a --print-value-only -w json",
            128,
            "print-value-only is only for `--write-out=simple`",
            id="values as json",
        ),
        pytest.param(
            "get /a --count-only", 128, "--count-only is only for `--write-out=fields`", id="counting in simple form"
        ),
        pytest.param("watch", 128, "bad number of arguments", id="watch what"),
        pytest.param(
            "watch /a /b --prefix", 128, "`range_end` and `--prefix` are mutually exclusive", id="watch two ends"
        ),
        pytest.param("snapshot save", 128, "snapshot save expects one argument", id="save where"),
        pytest.param(
            "snapshot save /no/such/x",
            5,
            "could not open /no/such/x.part (open /no/such/x.part: no such file or directory)",
            id="save nowhere",
        ),
        pytest.param("snapshot status", 128, "snapshot status requires exactly one argument", id="status of what"),
        pytest.param("snapshot status /no/x", 1, "stat /no/x: no such file or directory", id="status of nothing"),
        pytest.param("lease timetolive", 128, "lease timetolive command needs lease ID as argument", id="life of what"),
        pytest.param(
            "lease timetolive xyz",
            128,
            'bad lease ID arg (strconv.ParseInt: parsing "xyz": invalid syntax), expecting ID in Hex',
            id="no lease's id",
        ),
        pytest.param("alarm disarm a", 128, "alarm disarm command accepts no arguments", id="disarm what"),
        pytest.param("alarm disarm -w table", 4, "table not supported as output format", id="no table of alarms"),
        pytest.param(
            "compact 99999999999999999999",
            1,
            'strconv.ParseInt: parsing "99999999999999999999": value out of range',
            id="compaction at more than 64 bits",
        ),
        pytest.param(
            "compact -w json -- -1",
            1,
            "etcdserver: mvcc: required revision has been compacted",
            id="compaction before the first revision",
        ),
        pytest.param("compaction", 128, "compaction command needs 1 argument", id="compaction what"),
        pytest.param("get /a --foo", 1, "unknown flag: --foo", id="no flag"),
        pytest.param("--foo", 1, "unknown flag: --foo", id="no flag in front"),
        pytest.param("get /a -z", 1, "unknown shorthand flag: 'z' in -z", id="no short flag"),
        pytest.param("get /a --limit", 1, "flag needs an argument: --limit", id="a flag's value"),
        pytest.param("get /a -w", 1, "flag needs an argument: 'w' in -w", id="a short flag's value"),
        pytest.param(
            "get /a --prefix=maybe",
            1,
            'invalid argument "maybe" for "--prefix" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
            id="no switch",
        ),
        pytest.param("snapshot restore a", 1, 'required flag(s) "name" not set', id="a flag that must be"),
        pytest.param(
            "snapshot restore a --name=b --bump-revision=5",
            128,
            "--mark-compacted required if --revision-bump > 0",
            id="later and not compacted",
        ),
        pytest.param(
            "snapshot restore a --name=b --mark-compacted",
            128,
            "--mark-compacted required if --revision-bump > 0",
            id="compacted and not later",
        ),
        pytest.param(
            "snapshot restore a --name=b --bump-revision=-5",
            1,
            'invalid argument "-5" for "--bump-revision" flag: strconv.ParseUint: parsing "-5": invalid syntax',
            id="earlier",
        ),
        pytest.param("endpoint status -w protobuf", 4, "protobuf not supported as output format", id="no protobuf"),
        pytest.param("alarm list a", 128, "alarm list command accepts no arguments", id="alarms of what"),
    ],
)
def test_what_cannot_be_done_is_said_as_etcdctl_does(here: Here, words: str, code: int, message: str) -> None:
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")


@pytest.mark.parametrize("group", ["", "member", "endpoint", "lease", "alarm", "snapshot"])
def test_a_word_that_stands_before_others_alone_prints_its_help(here: Here, group: str) -> None:
    ran = here(*group.split())
    assert (ran.code, ran.err) == (0, "")
    assert "Usage: " in ran.out
    assert f"ktui store {group}".rstrip() in ran.out


def test_protobuf_goes_out_as_it_is(here: Here) -> None:
    ran = here("get", f"{MAPS}one", "--keys-only", "-w", "protobuf")
    assert (ran.code, ran.err) == (0, "")
    assert f"{MAPS}one" in ran.out
    assert not ran.out.endswith("\n")


def test_a_watch_of_no_range_is_canceled(here: Here) -> None:
    """All three as Debian's etcdctl has it."""
    told = "watch was canceled (mvcc: watcher range is empty)\nError: watch is canceled by the server\n"
    ran = here("watch", "/b", "/a")
    assert (ran.code, ran.out, ran.err) == (5, "", told)
    ran = here("watch", "/b", "/a", "-w", "json")
    canceled = '{"Header":{},"Events":null,"CompactRevision":0,"Canceled":true,"Created":false}\n'
    assert (ran.code, ran.out, ran.err) == (5, canceled, told)
    ran = here("watch", "/a", "/a", "-w", "fields")
    zeros = '"ClusterID" : 0\n"MemberID" : 0\n"Revision" : 0\n"RaftTerm" : 0\n'
    assert (ran.code, ran.out, ran.err) == (5, zeros, told)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param("foo", 1, 'unknown command "foo" for "ktui store"', id="no command"),
        pytest.param("lease foo", 1, 'unknown command "foo" for "ktui store lease"', id="no command about leases"),
        pytest.param("auth enable", 4, "etcdctl's auth means nothing here: the store has no users", id="no users"),
        pytest.param("lock a -- ls", 4, "etcdctl's lock means nothing here: the store gives no locks", id="no locks"),
        pytest.param("member add a", 4, "etcdctl's member add means nothing here: who keeps", id="no new members"),
        pytest.param("get /a --endpoints=x", 1, "--endpoints means nothing here: ktui store asks", id="no endpoints"),
    ],
)
def test_what_etcdctl_has_and_this_store_has_not(here: Here, words: str, code: int, message: str) -> None:
    ran = here(*words.split())
    assert (ran.code, ran.out, ran.err[: len(message) + 7]) == (code, "", f"Error: {message}")


def test_flags_in_front_of_the_command(here: Here) -> None:
    behind = here("get", f"{MAPS}one", "-w", "fields")
    assert (behind.code, '"Key" : ' in behind.out) == (0, True)
    for flags in (["-w", "fields"], ["--write-out=fields"], ["-wfields", "--name", "default"]):
        assert at_any_revision(here(*flags, "get", f"{MAPS}one")) == at_any_revision(behind)
    assert here("endpoint", "status", "--cluster").code == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        pytest.param(["--prefix=true"], ["--prefix"], id="a switch that is on"),
        pytest.param(["--keys-only=T", "--prefix=false"], ["--keys-only"], id="a switch that is off"),
        pytest.param(["-w=json"], ["-w", "json"], id="a short flag's value behind ="),
        pytest.param(["--prefix", "--limit=0x1"], ["--prefix", "--limit", "1"], id="an integer as Go writes it"),
    ],
)
def test_flags_are_written_as_pflag_reads_them(here: Here, given: list[str], meant: list[str]) -> None:
    ran = [at_any_revision(here("get", f"{MAPS}one", *words)) for words in (given, meant)]
    assert ran[0] == ran[1]


def test_a_key_that_is_empty_is_none(here: Here) -> None:
    ran = here("get", "")
    assert (ran.code, ran.out, ran.err) == (1, "", "Error: etcdserver: key is not provided\n")


def test_get_in_hexadecimal(here: Here) -> None:
    key = "".join(f"\\x{byte:02x}" for byte in f"{MAPS}one".encode())
    assert here("get", f"{MAPS}one", "--keys-only", "--hex").ok() == f"{key}\n\n"


def test_leases_and_what_hangs_on_them(home: Home, here: Here) -> None:
    """Events live on a lease of an hour and a minute."""
    event = home.path / "event.json"
    involved = {"kind": "ConfigMap", "name": "one", "namespace": "default"}
    event.write_text(
        json.dumps({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "told"}, "involvedObject": involved})
    )
    home.kubectl("create", "-f", str(event)).ok()
    event.unlink()
    found = json.loads(here("lease", "list", "-w", "json").ok())
    assert list(found) == ["cluster_id", "member_id", "revision", "raft_term", "leases"]
    (lease,) = [each["id"] for each in found["leases"]]
    assert here("lease", "list").ok() == f"found 1 leases\n{lease:016x}\n"
    life = json.loads(here("lease", "timetolive", f"{lease:x}", "--keys", "-w", "json").ok())
    assert list(life) == [*list(found)[:4], "id", "ttl", "granted-ttl", "keys"]
    assert [b64decode(key).decode() for key in life["keys"]] == ["/registry/events/default/told"]
    assert 0 < life["ttl"] <= life["granted-ttl"]
    assert json.loads(here("lease", "timetolive", f"{lease:x}", "-w", "json").ok())["keys"] is None
    shown = here("lease", "timetolive", f"{lease:x}", "--keys").ok()
    assert shown.startswith(f"lease {lease:016x} granted with TTL({life['granted-ttl']}s), remaining(")
    assert shown.endswith("s), attached keys([/registry/events/default/told])\n")
    assert here("lease", "timetolive", "1234").ok() == "lease 0000000000001234 already expired\n"


def test_no_alarms(here: Here) -> None:
    assert here("alarm", "list").ok() == ""
    assert here("alarm", "list", "-w", "json").ok() == "{}\n"


def test_members_and_their_health(home: Home, here: Here) -> None:
    """One member, which is the leader; the same as `etcdctl` prints of a real one is compared in test_shared_etcd."""
    (endpoint,) = json.loads(here("status", "-w", "json").ok())
    listed = json.loads(here("member", "list", "-w", "json").ok())
    assert list(listed) == ["header", "members"]
    assert listed["header"] == {"cluster_id": endpoint["Status"]["header"]["cluster_id"], **_tail(endpoint)}
    (member,) = listed["members"]
    urls = [endpoint["Endpoint"]]
    assert member == {"ID": endpoint["Status"]["leader"], "name": "default", "peerURLs": urls, "clientURLs": urls}
    line = f"{member['ID']:x}, started, default, {urls[0]}, {urls[0]}, false\n"
    assert here("member", "list").ok() == line
    row = here("member", "list", "-w", "table").ok().splitlines()[3]
    assert [cell.strip() for cell in row.strip("|").split("|")] == line.strip().split(", ")
    assert here("endpoint", "health").ok().startswith(f"{urls[0]} is healthy: successfully committed proposal: took = ")
    (health,) = json.loads(here("endpoint", "health", "-w", "json").ok())
    assert (health["endpoint"], health["health"]) == (urls[0], True)
    fields = here("endpoint", "health", "-w", "fields").ok().splitlines()
    assert fields[:2] == [f'"Endpoint" : "{urls[0]}"', '"Health" : true']
    assert (fields[2].startswith('"Took" : '), fields[2].endswith("ms"), fields[3:]) == (True, True, ['"Error" : ', ""])


def _tail(endpoint: dict[str, Any]) -> dict[str, int]:
    return {name: endpoint["Status"]["header"][name] for name in ("member_id", "raft_term")}


def test_the_one_member_of_an_own_store_cannot_fail(here: Here) -> None:
    ran = here("member", "stop", "default")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "Error: the store has one member, and nothing can befall it: only the members of a simulated quorum "
        "(ktui up --etcd-members 3) can be told to fail\n"
    )
    (line,) = here("member", "status").ok().splitlines()
    assert line.split(", ")[1:3] == ["default", "leader"]


def test_get_within_revisions(home: Home, here: Here) -> None:
    """etcd 3.5's bounds: the count is of all, more and limit are of those within."""
    kvs = json.loads(here("get", MAPS, "--prefix", "-w", "json").ok())["kvs"]
    first, second = (kv for kv in kvs if b64decode(kv["key"]).decode().endswith(("/one", "/two")))
    changed, made = first["mod_revision"], first["create_revision"]

    def found(*words: str) -> list[str]:
        return here("get", MAPS, f"{MAPS}two\x01", "--keys-only", *words).ok().split()

    one, two = f"{MAPS}one", f"{MAPS}two"
    assert found("--min-mod-rev", str(changed)) == [one]
    assert found("--max-mod-rev", str(changed - 1)) == [two]
    assert found("--max-create-rev", str(made)) == [one]
    assert found("--min-create-rev", str(made), "--order", "DESCEND", "--limit", "1") == [two]
    cut = json.loads(here("get", MAPS, f"{MAPS}two\x01", "--min-create-rev", "1", "--limit", "1", "-w", "json").ok())
    assert (len(cut["kvs"]), cut["more"], cut["count"]) == (1, True, 2)
    none = json.loads(here("get", MAPS, f"{MAPS}two\x01", "--min-create-rev", "999999", "-w", "json").ok())
    assert list(none) == ["header", "count"]
    assert second["create_revision"] > made


def watch(home: Home, *words: str, lines: int) -> list[str]:
    """The first lines that a watch prints; one that does not end then tells where it is."""
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-m", "ktui", "store", "watch", *words],
        env=home.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = [process.stdout.readline().rstrip("\n") for _ in range(lines)]
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        raise AssertionError(f"it does not end:\n{process.communicate()[1]}") from None
    assert process.returncode == 130
    return found


def test_watch_prints_events_from_a_revision_on_with_what_was_before(home: Home) -> None:
    home.kubectl("create", "configmap", "watched", "--from-literal=is=here").ok()
    (kv,) = json.loads(home.ktui("store", "get", f"{MAPS}watched", "-w", "json").ok())["kvs"]
    home.kubectl("delete", "configmap", "watched").ok()
    rev = str(kv["mod_revision"])
    value = b64decode(kv["value"]).decode()
    key = f"{MAPS}watched"
    seen = watch(home, MAPS, "--prefix", "--rev", rev, "--prev-kv", lines=8)
    assert seen == ["PUT", key, value, "DELETE", key, value, key, ""]
    assert watch(home, key, "--rev", rev, lines=6) == ["PUT", key, value, "DELETE", key, ""]
    first = json.loads(watch(home, key, "--rev", rev, "-w", "json", lines=1)[0])
    assert list(first) == ["Header", "Events", "CompactRevision", "Canceled", "Created"]
    assert [event.get("type", 0) for event in first["Events"]] == [0, 1]


def test_status_as_etcdctl_endpoint_status(home: Home) -> None:
    (endpoint,) = json.loads(home.ktui("store", "status", "-w", "json").ok())
    status = endpoint["Status"]
    assert endpoint["Endpoint"] == f"sqlite://{home.folder().store}"
    assert status["leader"] == status["header"]["member_id"]
    assert status["raftAppliedIndex"] == status["header"]["revision"]
    name, member, _version, _size, leader, learner, term, *_ = home.ktui("store", "status").ok().split(", ")
    assert (name, int(member, 16)) == (endpoint["Endpoint"], status["leader"])
    assert (leader, learner, term) == ("true", "false", "1")
    rule, header, _, row, last = home.ktui("store", "status", "-w", "table").ok().splitlines()
    assert rule == last
    assert {len(header), len(row)} == {len(rule)}
    assert [cell.strip() for cell in header.strip("|").split("|")] == list(ENDPOINT_HEADERS)


def test_a_member_that_does_not_answer_leads_nobody() -> None:
    names = ("leader", "dbSize", "raftTerm", "raftIndex", "raftAppliedIndex")
    status = {**dict.fromkeys(names, 0), "header": {"member_id": 0}, "version": "", "errors": ["connection refused"]}
    row = endpoint_row({"Endpoint": "http://127.0.0.1:2379", "Status": status})
    assert (row[4], row[-1]) == ("false", "connection refused")


def test_a_snapshot_becomes_a_new_cluster(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "saved.db"
    assert home.ktui("store", "snapshot", "save", str(file)).ok() == f"Snapshot saved at {file}\n"
    assert file.stat().st_mode & 0o077 == 0
    count = json.loads(home.ktui("store", "get", "", "--prefix", "--keys-only", "-w", "json").ok())["count"]
    status = json.loads(home.ktui("store", "snapshot", "status", str(file), "-w", "json").ok())
    assert (status["totalKey"], status["totalSize"]) == (count, file.stat().st_size)
    later = ("--bump-revision=1000000000", "--mark-compacted")
    restored = home.ktui("store", "snapshot", "restore", str(file), "--name=restored", *later).ok()
    assert restored.startswith(f"restored revision {status['revision'] + 1_000_000_000} into cluster restored: ")
    again = home.ktui("store", "snapshot", "restore", str(file), "--name=restored")
    assert (again.code, "already" in again.err) == (1, True)
    home.up("--components=apiserver", name="restored")
    assert home.kubectl("get", "configmap", "one", "-o", "jsonpath={.data.is}", name="restored").ok() == "changed"


def test_a_file_that_is_no_snapshot(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(b"no snapshot")
    for words in (["status", str(file)], ["restore", str(file), "--name=other"]):
        ran = home.ktui("store", "snapshot", *words)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"Error: {file} is no snapshot of ktui's own store")
    assert not home.folder("other").path.exists()


def test_compact_and_what_it_takes_away(home: Home) -> None:
    revision = json.loads(home.ktui("store", "get", MAPS, "-w", "json").ok())["header"]["revision"]
    compacted = home.ktui("store", "compaction", str(revision), "--physical")
    assert compacted.ok() == f"compacted revision {revision}\n"
    message = "etcdserver: mvcc: required revision has been compacted"
    for words in (["compact", str(revision)], ["get", MAPS, "--prefix", "--rev", "2"]):
        ran = home.ktui("store", *words)
        assert (ran.code, ran.out, ran.err) == (1, "", f"Error: {message}\n")
    ran = home.ktui("store", "watch", MAPS, "--prefix", "--rev", "2")
    assert (ran.code, ran.err) == (5, f"watch was canceled ({message})\nError: watch is canceled by the server\n")
    ran = home.ktui("store", "watch", MAPS, "--prefix", "--rev", "2", "-w", "json")
    canceled = json.loads(ran.out)
    assert (canceled["Canceled"], canceled["CompactRevision"], canceled["Events"]) == (True, revision, [])
    assert "revision" not in canceled["Header"]
    assert home.ktui("store", "defrag").ok() == f"Finished defragmenting etcd member[sqlite://{home.folder().store}]\n"


def test_nobody_without_the_right_sees_the_store(home: Home) -> None:
    ran = home.kubectl("get", "--raw", "/debug/ktui/store/range?key=%2F&range_end=0", "--as=nobody")
    assert ran.code == 1
    assert 'User "nobody" cannot get path "/debug/ktui/store/range"' in ran.err
