"""`ktui store put|del|txn|watch -i|endpoint hashkv`, compared with Debian's etcdctl, and what may befall the members of
a simulated quorum."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from engine.client import Client
from engine.client.connection import Connection
from engine.client.https import HttpsTransport
from ktui.commands.store_watch import Shown
from ktui.commands.store_watch_lines import follow_lines
from ktui.store.client import EtcdctlError, Format
from tests.engine_process import TIMEOUT, Home
from tests.ktui.here import Here, runner

NO_VALUE = "put command needs 1 argument and input from stdin or 2 arguments"
KEEPS = "put command needs only 1 argument when 'ignore-value' is set"
NO_KEY = "del command needs one argument as key and an optional argument as range_end"
MEMBERS = ("etcd-0", "etcd-1", "etcd-2")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One cluster of nothing but the API server, whose store has three simulated members."""
    home = Home(tmp_path_factory.mktemp("writes") / "home")
    home.up("--components=apiserver", "--etcd-members=3", "--profile=instant")
    yield home
    home.stop("default")


@pytest.fixture
def here(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Here:
    return runner(home, monkeypatch, capfd, "store")


def test_put_and_delete(here: Here) -> None:
    assert here("put", "/t/a", "1").ok() == "OK\n"
    assert here("put", "/t/a", "2", "--prev-kv").ok() == "OK\n/t/a\n1\n"
    assert here("put", "/t/a", stdin="from stdin\n").ok() == "OK\n"
    assert here("get", "/t/a", "--print-value-only").ok() == "from stdin\n\n"
    kept = json.loads(here("put", "/t/a", "--ignore-value", "--prev-kv", "-w", "json").ok())
    assert (list(kept), kept["prev_kv"]["version"]) == (["header", "prev_kv"], 3)
    assert here("get", "/t/a", "--print-value-only").ok() == "from stdin\n\n"
    assert here("put", "/t/b", "x", "-w", "fields").ok().splitlines()[0].startswith('"ClusterID" : ')
    assert here("del", "/t/b", "--prev-kv").ok() == "1\n/t/b\nx\n"
    assert here("del", "/t/b").ok() == "0\n"
    fields = here("del", "/t/", "--prefix", "--prev-kv", "-w", "fields").ok().splitlines()
    assert fields[4:6] == ['"Deleted" : 1', '"PrevKey" : "/t/a"']


def test_keys_need_not_be_text(here: Here) -> None:
    odd = os.fsdecode(b"/o/x\xff\xfe")
    here("put", odd, "1").ok()
    here("put", "/o/x\x7f", "2").ok()
    assert json.loads(here("get", odd, "-w", "json").ok())["kvs"][0]["key"] == "L28veP/+"
    assert here("get", odd, "-w", "fields").ok().splitlines()[4] == '"Key" : "/o/x\\xff\\xfe"'
    assert here("get", "/o/x\x7f", "--prefix", "--hex").ok() == "\\x2f\\x6f\\x2f\\x78\\x7f\n\\x32\n"
    assert here("get", odd, "--prefix", "--print-value-only").ok() == "1\n"
    read = here("txn", "-w", "json", stdin=f'\nget {odd}\nget "/o/x\\xff\\xfe"\n\n\n').ok()
    assert [each["Response"]["ResponseRange"]["count"] for each in json.loads(read)["responses"]] == [1, 1]
    assert here("del", odd, "--prefix").ok() == "1\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param(["put"], 128, NO_VALUE, id="put nothing"),
        pytest.param(["put", "/k"], 128, NO_VALUE, id="no value"),
        pytest.param(
            ["put", "/k", "v", "--lease", "zz"],
            128,
            'bad lease ID (strconv.ParseInt: parsing "zz": invalid syntax), expecting ID in Hex',
            id="a lease that is none",
        ),
        pytest.param(
            ["put", "/k", "v", "--lease", "0x1"],
            128,
            'bad lease ID (strconv.ParseInt: parsing "0x1": invalid syntax), expecting ID in Hex',
            id="a lease with its base",
        ),
        pytest.param(
            ["put", "/k", "v", "--lease", "ffffffffffffffff"],
            128,
            'bad lease ID (strconv.ParseInt: parsing "ffffffffffffffff": value out of range), expecting ID in Hex',
            id="a lease of more than 63 bits",
        ),
        pytest.param(["put", "/k", "v", "--lease", "-1"], 1, "etcdserver: requested lease not found", id="below zero"),
        pytest.param(["put", "/k", "v", "--lease", "12"], 1, "etcdserver: requested lease not found", id="no lease"),
        pytest.param(["put", "", "v"], 1, "etcdserver: key is not provided", id="an empty key"),
        pytest.param(["put", "/k", "v", "-w", "table"], 4, "table not supported as output format", id="no table"),
        pytest.param(["put", "/none", "--ignore-value"], 1, "etcdserver: key not found", id="no value to keep"),
        pytest.param(
            ["put", "/k", "v", "--ignore-value"],
            128,
            KEEPS,
            id="a value and none",
        ),
        pytest.param(
            ["put", "/k", "v", "--ignore-lease", "--lease", "12"], 1, "etcdserver: lease is provided", id="two leases"
        ),
        pytest.param(
            ["del"],
            128,
            "del command needs one argument as key and an optional argument as range_end",
            id="del nothing",
        ),
        pytest.param(
            ["del", "/a", "--prefix", "--from-key"],
            128,
            "`--prefix` and `--from-key` cannot be set at the same time, choose one",
            id="two intervals",
        ),
        pytest.param(["txn", "x"], 128, "txn command does not accept argument", id="txn with words"),
    ],
)
def test_what_cannot_be_written(here: Here, words: list[str], code: int, message: str) -> None:
    ran = here(*words)
    assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")


TYPED = """value("/x/a") = "1"
ver("/x/a") > "0"

get /x/a
put '/x/b' "b c"
del /x/none

put /x/b other

"""


def test_a_transaction_runs_what_its_compares_decide(here: Here) -> None:
    here("put", "/x/a", "1").ok()
    assert here("txn", stdin=TYPED).ok() == "SUCCESS\n\n/x/a\n1\n\nOK\n\n0\n"
    assert here("get", "/x/b", "--print-value-only").ok() == "b c\n"
    here("put", "/x/a", "2").ok()
    prompts = "compares:\nsuccess requests (get, put, del):\nfailure requests (get, put, del):\n"
    assert here("txn", "-i", stdin=TYPED).ok() == f"{prompts}FAILURE\n\nOK\n"
    found = json.loads(here("txn", "-w", "json", stdin="\nget /x/b\nput /x/c 1 --prev-kv\n\n\n").ok())
    assert (list(found), found["succeeded"]) == (["header", "succeeded", "responses"], True)
    assert [list(each["Response"]) for each in found["responses"]] == [["ResponseRange"], ["ResponsePut"]]
    assert found["responses"][1]["Response"]["ResponsePut"] == {"header": {"revision": found["header"]["revision"]}}
    assert here("txn", stdin="\nput /x/c --ignore-value --ignore-lease\nget /x/c\n\n\n").ok() == (
        "SUCCESS\n\nOK\n\n/x/c\n1\n"
    )
    fields = here("txn", "-w", "fields", stdin="\ndel /x/c --prev-kv\n\n\n").ok().splitlines()
    assert fields[4:6] == ['"Succeeded" : true', '"ClusterID" : 0']
    assert here("txn", stdin="\n\n\n").ok() == "SUCCESS\n"
    assert here("txn", stdin="\nget /x --prefix --limit 1 --sort-by MODIFY --order DESCEND\n\n\n").ok() == (
        "SUCCESS\n\n/x/b\nother\n"
    )


def test_a_compare_names_a_lease_in_hexadecimal(here: Here) -> None:
    lease = here("lease", "grant", "60").ok().split()[1]
    here("put", "/l/a", "1", "--lease", lease).ok()
    assert here("txn", stdin=f'lease("/l/a") = "{lease}"\n\n\n\n').ok() == "SUCCESS\n"
    assert here("txn", stdin='lease("/l/a") = "c0ffee"\n\n\n\n').ok() == "FAILURE\n"


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        pytest.param("", 3, "EOF", id="nothing is typed"),
        pytest.param("\nput a 1", 3, "EOF", id="half a line"),
        pytest.param("foo\n", 3, "malformed comparison: foo", id="no compare"),
        pytest.param('foo("a") = "b"\n', 3, 'malformed comparison: foo("a") = "b" (unknown target foo)', id="target"),
        pytest.param('mod("a") = "b"\n', 3, 'invalid txn compare request: mod("a") = "b"', id="no number"),
        pytest.param('mod("a") = "f"\n', 3, 'invalid txn compare request: mod("a") = "f"', id="a hexadecimal revision"),
        pytest.param('lease("a") = "zz"\n', 3, 'invalid txn compare request: lease("a") = "zz"', id="no lease"),
        pytest.param('mod(a) = "1"\n', 3, 'malformed comparison: mod(a) = "1"; got mod("")  ""', id="no quotes"),
        pytest.param('mod("a") = 1\n', 3, 'malformed comparison: mod("a") = 1; got mod("a") = ""', id="a bare number"),
        pytest.param(
            'mod("a")= "1"\n', 3, 'malformed comparison: mod("a")= "1"; got mod("a")  ""', id="no space before it"
        ),
        pytest.param('mod("a" ) = "1"\n', 3, 'malformed comparison: mod("a" ) = "1"; got mod("a")  ""', id="a space"),
        pytest.param(
            'val("a") = "\\q"\n', 3, 'malformed comparison: val("a") = "\\q"; got val("a") = ""', id="no such escape"
        ),
        pytest.param("\nput a -v\n", 3, "invalid txn request: put a -v", id="no short flag"),
        pytest.param("\nput a b --prev-kv=maybe\n", 3, "invalid txn request: put a b --prev-kv=maybe", id="no switch"),
        pytest.param('\nput a "\\q"\n', 3, "invalid syntax", id="no such escape in a word"),
        pytest.param("\nget a --consistency x\n", 4, 'unknown consistency flag "x"', id="no such consistency"),
        pytest.param("\nfoo bar\n", 3, "invalid txn request: foo bar", id="no request"),
        pytest.param("\nget\n", 3, "invalid txn compare request: get", id="a request of nothing"),
        pytest.param("\nput a b --nope\n", 3, "invalid txn request: put a b --nope", id="no flag"),
        pytest.param("\nput a b --ignore-value\n", 128, KEEPS, id="a value and none"),
        pytest.param("\nput a\n\n\n", 128, NO_VALUE, id="a request without its value"),
        pytest.param("\nput none --ignore-value\n\n\n", 1, "etcdserver: key not found", id="no value to keep"),
        pytest.param("\nput a 1\nput a 2\n\n\n", 1, "etcdserver: duplicate key given in txn request", id="twice"),
    ],
)
def test_what_is_no_transaction(here: Here, typed: str, code: int, message: str) -> None:
    ran = here("txn", stdin=typed)
    assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")


def test_watches_that_are_typed(here: Here) -> None:
    here("put", "/w/a", "1").ok()
    ran = here("watch", "-i", stdin="bogus\nwatch\n\nwatch /w --prefix b\nprogress\n")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.splitlines() == [
        "Invalid command bogus (only support watch)",
        "Invalid command watch (command type or key is not provided)",
        "Invalid command:  (watch and progress supported)",
        "Invalid command watch /w --prefix b (`range_end` and `--prefix` are mutually exclusive)",
        "Error: Error reading watch request line: EOF",
    ]
    for typed, problem in (
        ("watch --nope /w", "unknown flag: --nope"),
        ("watch /w -w json", "unknown shorthand flag: 'w' in -w"),
    ):
        ran = here("watch", "-i", stdin=f"{typed}\n")
        assert (ran.code, ran.err) == (128, f"Error: {problem}\n")


def test_an_interrupt_ends_typed_watches_though_more_could_be_typed(home: Home) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ktui", "store", "watch", "-i"],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"watch /registry/namespaces/default --rev 2\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"PUT\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(TIMEOUT) == 130
        finally:
            process.kill()


async def test_a_typed_watch_that_is_cut_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n")
        await writer.drain()
        writer.close()

    class Told(io.StringIO):
        def write(self, text: str) -> int:
            if text == "\n":
                os.close(typing)  # nothing more is typed once it was told
            return super().write(text)

    typed, typing = os.pipe()
    os.write(typing, b"watch /a\n")
    told = Told()
    server = await asyncio.start_server(cut, "127.0.0.1", 0)
    transport = HttpsTransport(Connection(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    client = Client(transport, user_agent="test")
    with os.fdopen(typed) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stderr", told)
        with pytest.raises(EtcdctlError, match="Error reading watch request line: EOF"):
            await follow_lines(client, Shown(Format.SIMPLE, as_hex=False))
    await client.close()
    server.close()
    assert told.getvalue() == "the stream was cut: unexpected EOF\n"


def test_a_command_is_run_for_each_event(here: Here) -> None:
    first = json.loads(here("put", "/e/a", 'x"y', "-w", "json").ok())["header"]["revision"]
    here("del", "/e/a").ok()
    told = 'echo "$ETCD_WATCH_REVISION $ETCD_WATCH_EVENT_TYPE $ETCD_WATCH_KEY $ETCD_WATCH_VALUE"'
    command = ["sh", "-c", f'{told}; test "$ETCD_WATCH_EVENT_TYPE" = \'"PUT"\'']
    ran = here("watch", "/e/a", "--rev", str(first), "--", *command)
    *events, put, deleted = ran.out.splitlines()
    assert events == ["PUT", "/e/a", 'x"y', "DELETE", "/e/a", ""]
    # The revision is the store's when it answers: the API server may have written its leases since the deletion.
    revision = int(put.partition(" ")[0])
    assert revision > first
    assert [put, deleted] == [f'{revision} "PUT" "/e/a" "x\\"y"', f'{revision} "DELETE" "/e/a" ""']
    assert ran.code == 1
    assert ran.err.endswith(" error (exit status 1)\n"), "a command that fails ends the watch"
    ran = here("watch", "/e/a", "--rev", str(first), "-w", "json", "--", "no-such-command")
    assert (ran.code, ran.err) == (
        1,
        'command ["no-such-command"] error (exec: "no-such-command": executable file not found in $PATH)\n',
    )


def test_members_that_agree_have_one_hash(here: Here) -> None:
    rows = [line.split(", ") for line in here("endpoint", "hashkv").ok().splitlines()]
    assert [row[0] for row in rows] == [f"simulated://{name}" for name in MEMBERS]
    assert len({row[1] for row in rows}) == 1
    here("put", "/h", "1").ok()
    found = json.loads(here("endpoint", "hashkv", "-w", "json").ok())
    assert {str(each["HashKV"]["hash"]) for each in found} != {rows[0][1]}
    assert [list(each) for each in found] == [["Endpoint", "HashKV"]] * 3
    assert found[0]["HashKV"]["compact_revision"] == -1
    revision = str(found[0]["HashKV"]["header"]["revision"])
    hashed = str(found[0]["HashKV"]["hash"])  # whatever was written since, such as the lease of the API server
    assert here("endpoint", "hashkv", "--rev", revision).ok().splitlines()[0].split(", ") == [rows[0][0], hashed]
    ran = here("endpoint", "hashkv", "--rev", "99999")
    message = "etcdserver: mvcc: required revision is a future revision"
    assert (ran.code, ran.err.splitlines()) == (
        1,
        [
            *(f"Failed to get the hash of endpoint simulated://{name} ({message})" for name in MEMBERS),
            f"Error: {message}",
        ],
    )


def states(here: Here, *words: str) -> dict[str, str]:
    """What a command about members prints, as name to state."""
    rows = [line.split(", ") for line in here("member", *words).ok().splitlines()]
    return {row[1]: row[2] for row in rows}


def test_members_stop_and_come_back(here: Here) -> None:
    here("put", "/f", "which waits for a leader").ok()
    leader, *others = sorted(MEMBERS, key=lambda name: states(here, "status")[name] != "leader (simulated)")
    assert states(here, "stop", others[0])[others[0]] == "stopped (simulated)"
    here("put", "/f", "with two of three").ok()
    ran = here("endpoint", "hashkv")
    assert (ran.code, ran.err.splitlines()[-1], len(ran.out.splitlines())) == (1, "Error: stopped", 2)
    assert states(here, "stop", others[1]) == {leader: "candidate (simulated)"} | dict.fromkeys(
        others, "stopped (simulated)"
    )
    for name in others:
        states(here, "start", name)
    here("put", "/f", "with all").ok()


def test_members_are_slowed_and_cut_off(here: Here) -> None:
    found = json.loads(here("member", "slow", "etcd-2", "1.5s", "-w", "json").ok())
    assert [each["slowMs"] for each in found["members"]] == [0, 0, 1500]
    by_id = found["members"][2]["id"]
    assert [
        each["slowMs"] for each in json.loads(here("member", "slow", by_id, "0", "-w", "json").ok())["members"]
    ] == [
        0,
        0,
        0,
    ]
    cut = states(here, "partition", "etcd-0", "etcd-1")
    assert [name for name, state in cut.items() if "(partitioned)" in state] == ["etcd-0", "etcd-1"]
    assert not any("(partitioned)" in state for state in states(here, "heal").values())
    table = here("member", "status", "-w", "table").ok().splitlines()
    assert table[1].strip("| ").split()[:3] == ["ID", "|", "NAME"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param(
            ["stop", "nobody"],
            1,
            'there is no member "nobody"; there are: etcd-0, etcd-1, etcd-2',
            id="an unknown member",
        ),
        pytest.param(["slow", "etcd-0", "x"], 128, 'bad delay (time: invalid duration "x")', id="no duration"),
        pytest.param(
            ["slow", "etcd-0", "--", "-1s"], 1, "a member cannot be slowed by less than nothing", id="less than none"
        ),
    ],
)
def test_what_cannot_befall_a_member(here: Here, words: list[str], code: int, message: str) -> None:
    ran = here("member", *words)
    assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")


def test_a_lease_from_its_grant_to_its_end(here: Here) -> None:
    granted = here("lease", "grant", "100").ok()
    id = granted.split()[1]
    assert granted == f"lease {id} granted with TTL(100s)\n"
    here("put", "/l/a", "1", "--lease", id).ok()
    assert here("lease", "keep-alive", "--once", id).ok() == f"lease {id} keepalived with TTL(100)\n"
    assert here("lease", "timetolive", id, "--keys").ok().endswith("attached keys([/l/a])\n")
    assert here("lease", "revoke", id).ok() == f"lease {id} revoked\n"
    assert here("get", "/l/a").ok() == ""
    assert here("lease", "keep-alive", id).ok() == f"lease {id} expired or revoked.\n"
    assert here("lease", "keep-alive", id, "-w", "json").ok() == ""
    found = json.loads(here("lease", "grant", "0", "-w", "json").ok())
    assert list(found)[-3:] == ["ID", "TTL", "Error"]
    assert found["TTL"] == 2, "the least that etcd grants"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        pytest.param(["grant"], 128, "lease grant command needs TTL argument", id="no ttl"),
        pytest.param(["grant", "x"], 128, 'bad TTL (strconv.ParseInt: parsing "x": invalid syntax)', id="no number"),
        pytest.param(
            ["grant", "99999999999999999999"],
            128,
            'bad TTL (strconv.ParseInt: parsing "99999999999999999999": value out of range)',
            id="longer than 64 bits",
        ),
        pytest.param(
            ["grant", "99999999999"], 1, "failed to grant lease (etcdserver: too large lease TTL)", id="too long"
        ),
        pytest.param(["revoke"], 128, "lease revoke command needs 1 argument", id="no id"),
        pytest.param(
            ["revoke", "1234"], 1, "failed to revoke lease (etcdserver: requested lease not found)", id="unknown"
        ),
        pytest.param(["keep-alive"], 128, "lease keep-alive command needs lease ID as argument", id="nothing kept"),
        pytest.param(["keep-alive", "--once", "1234"], 2, "etcdserver: requested lease not found", id="kept once"),
    ],
)
def test_what_is_no_lease(here: Here, words: list[str], code: int, message: str) -> None:
    ran = here("lease", *words)
    assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")


def test_another_member_is_made_the_leader(here: Here) -> None:
    here("put", "/m", "1").ok()  # which waits for a leader
    rows = [line.split(", ") for line in here("member", "status").ok().splitlines()]
    leader = next(row for row in rows if row[2] == "leader (simulated)")
    other = next(row for row in rows if row[2] == "follower (simulated)")
    moved = here("move-leader", other[0]).ok()
    assert moved == f"Leadership transferred from {leader[0]} to {other[0]}\n"
    assert states(here, "status")[other[1]] == "leader (simulated)"
    for words, code, message in (
        ([], 128, "move-leader command needs 1 argument"),
        (["zz"], 128, 'strconv.ParseUint: parsing "zz": invalid syntax'),
        (["fffffffffffffffff"], 128, 'strconv.ParseUint: parsing "fffffffffffffffff": value out of range'),
        (["1234"], 1, "etcdserver: bad leader transferee"),
    ):
        ran = here("move-leader", *words)
        assert (ran.code, ran.out, ran.err) == (code, "", f"Error: {message}\n")
