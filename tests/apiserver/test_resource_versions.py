"""resourceVersion, resourceVersionMatch, limit and continue: the tables of the API concepts page, row by row."""

from __future__ import annotations

import asyncio
import base64
from functools import partial
from typing import Any, NamedTuple

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, LEASES, PODS, Object
from engine.api.wire import Response
from engine.client import Client
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from tests.apiserver.conftest import config_map, make_namespace, pod
from tests.apiserver.test_list import names
from tests.apiserver.test_watch import next_event, take

PATH = "/api/v1/namespaces/default/configmaps"
TOO_OLD = "The resourceVersion for the provided list is too old."


def token(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


class Past(NamedTuple):
    """c0 to c3 stand at `old`; then c0 was deleted and c4 made."""

    old: str
    newest: str
    token: str  # of a page of two at `old`


async def past(client: Client) -> Past:
    for number in range(4):
        await client.create(CONFIGMAPS, config_map(f"c{number}"), namespace="default")
    page = await client.list(CONFIGMAPS, namespace="default", limit=2)
    await client.delete(CONFIGMAPS, "c0", namespace="default")
    newest = await client.create(CONFIGMAPS, config_map("c4"), namespace="default")
    return Past(page.resource_version, newest["metadata"]["resourceVersion"], page.continue_)


async def ask(client: Client, path: str, **query: str) -> Response:
    named = {"match": "resourceVersionMatch", "version": "resourceVersion"}
    return await client.send("GET", path, query={named.get(key, key): [value] for key, value in query.items()})


def outcome(response: Response) -> Any:
    """The names of a list, or the code and the message of a failure."""
    if response.status >= 400:
        return response.status, response.body["message"]
    return names(response.body["items"])


OLD, NEW = ["c0", "c1", "c2", "c3"], ["c1", "c2", "c3", "c4"]
NEEDS_VERSION = "resourceVersionMatch is forbidden unless resourceVersion is provided"
WITH_CONTINUE = "resourceVersionMatch is forbidden when continue is provided"
EXACT_ZERO = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
VERSION_AND_CONTINUE = "specifying resource version is not allowed when using continue"


def forbidden(why: str, field: str = "resourceVersionMatch") -> tuple[int, str]:
    return 422, f'ListOptions.meta.k8s.io "" is invalid: {field}: Forbidden: {why}'


# (limit, continue, match, version) -> what is listed; `old` stands for the revision before the deletion.
LIST_ROWS: list[tuple[str, dict[str, str], Any]] = [
    ("unset", {}, NEW),
    ("any", {"version": "0"}, NEW),
    ("not older than", {"version": "old"}, NEW),
    ("exact without a version", {"match": "Exact"}, forbidden(NEEDS_VERSION)),
    ("exact at any", {"match": "Exact", "version": "0"}, forbidden(EXACT_ZERO)),
    ("exact", {"match": "Exact", "version": "old"}, OLD),
    ("NotOlderThan without a version", {"match": "NotOlderThan"}, forbidden(NEEDS_VERSION)),
    ("NotOlderThan any", {"match": "NotOlderThan", "version": "0"}, NEW),
    ("NotOlderThan", {"match": "NotOlderThan", "version": "old"}, NEW),
    ("page of the newest", {"limit": "2"}, NEW[:2]),
    ("page of any: the cache has no pages", {"limit": "2", "version": "0"}, NEW),
    ("page of a version is exact", {"limit": "2", "version": "old"}, OLD[:2]),
    ("exact page", {"limit": "2", "match": "Exact", "version": "old"}, OLD[:2]),
    ("page not older than", {"limit": "2", "match": "NotOlderThan", "version": "old"}, NEW[:2]),
    ("page NotOlderThan any", {"limit": "2", "match": "NotOlderThan", "version": "0"}, NEW),
    ("exact page at any", {"limit": "2", "match": "Exact", "version": "0"}, forbidden(EXACT_ZERO)),
    ("exact page without a version", {"limit": "2", "match": "Exact"}, forbidden(NEEDS_VERSION)),
    ("next page", {"limit": "2", "continue": "token"}, OLD[2:]),
    ("all that is left", {"continue": "token"}, OLD[2:]),
    ("next page of any", {"limit": "2", "continue": "token", "version": "0"}, OLD[2:]),
    ("next page of any: its limit counts for nothing", {"limit": "1", "continue": "token", "version": "0"}, OLD[2:]),
    ("next page of a version", {"limit": "2", "continue": "token", "version": "old"}, (400, VERSION_AND_CONTINUE)),
    (
        "next page of no version",
        {"continue": "token", "version": "abc"},
        (
            400,
            'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": '
            "invalid syntax",
        ),
    ),
    (
        "no page of a version",
        {"continue": "x", "version": "old"},
        (400, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
    ),
    (
        "exact next page",
        {"limit": "2", "continue": "token", "match": "Exact", "version": "old"},
        forbidden(WITH_CONTINUE),
    ),
    (
        "next page NotOlderThan",
        {"continue": "token", "match": "NotOlderThan", "version": "0"},
        forbidden(WITH_CONTINUE),
    ),
    (
        "no such match",
        {"match": "Newest", "version": "old"},
        (
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": '
            'supported values: "Exact", "NotOlderThan", ""',
        ),
    ),
    (
        "initial events",
        {"sendInitialEvents": "true"},
        forbidden("sendInitialEvents is forbidden for list", "sendInitialEvents"),
    ),
    (
        "no number",
        {"version": "abc"},
        (
            400,
            'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": '
            "invalid syntax",
        ),
    ),
    (
        "below zero",
        {"version": "-1"},
        (
            400,
            'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": '
            "invalid syntax",
        ),
    ),
    ("limit that is no number", {"limit": "two"}, (400, 'strconv.ParseInt: parsing "two": invalid syntax')),
    ("limit below zero", {"limit": "-2"}, NEW),
    (
        "limit that is endless",
        {"limit": "9" * 5000},
        (400, f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range'),
    ),
    (
        "endless",
        {"version": "9" * 5000},
        (
            400,
            f'invalid resource version: resourceVersion: Invalid value: "{"9" * 5000}": strconv.ParseUint: parsing '
            f'"{"9" * 5000}": value out of range',
        ),
    ),
    ("limit without a value", {"limit": ""}, (400, 'strconv.ParseInt: parsing "": invalid syntax')),
    (
        "initial events without a value",
        {"sendInitialEvents": ""},
        forbidden("sendInitialEvents is forbidden for list", "sendInitialEvents"),
    ),
]


@pytest.mark.parametrize(("query", "expected"), [row[1:] for row in LIST_ROWS], ids=[row[0] for row in LIST_ROWS])
async def test_list(client: Client, query: dict[str, str], expected: Any) -> None:
    then = await past(client)
    stands_for = {"old": then.old, "token": then.token}
    response = await ask(client, PATH, **{key: stands_for.get(value, value) for key, value in query.items()})
    assert outcome(response) == expected
    if response.status == 200:
        exact = then.old if expected[0] in ("c0", "c2") else then.newest
        assert response.body["metadata"]["resourceVersion"] == exact


GET_ROWS: list[tuple[str, str, tuple[int, str]]] = [
    ("unset", "", (200, "")),
    ("any", "0", (200, "")),
    ("not older than", "old", (200, "")),
    # Upstream passes these on as the storage's own error, which makes them 500 (kubernetes issue 139485).
    (
        "no number",
        "abc",
        (500, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'),
    ),
    (
        "too great for 64 bits",
        "99999999999999999999",
        (
            500,
            'resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing '
            '"99999999999999999999": value out of range',
        ),
    ),
]


@pytest.mark.parametrize(("version", "expected"), [row[1:] for row in GET_ROWS], ids=[row[0] for row in GET_ROWS])
async def test_get(client: Client, version: str, expected: tuple[int, str]) -> None:
    then = await past(client)
    response = await ask(client, f"{PATH}/c1", version=then.old if version == "old" else version)
    assert (response.status, response.body.get("message", "")) == expected
    if response.status == 500:
        assert "reason" not in response.body


# -- the future


@pytest.mark.parametrize(
    ("path", "query", "seconds", "retry_after"),
    [
        (PATH, {}, 3.0, 1),
        (PATH, {"match": "NotOlderThan"}, 3.0, 1),
        (f"{PATH}/c1", {}, 3.0, 1),
        (PATH, {"match": "Exact"}, 3.0, 1),
        (PATH, {"limit": "1"}, 3.0, 1),
        (PATH, {"continue": token({"v": "meta.k8s.io/v1", "rv": 100000, "start": "c1"}), "version": ""}, 3.0, 1),
        (
            PATH,
            {"match": "Exact", "fieldSelector": "metadata.name=c1"},
            0.0,
            None,
        ),  # the cache keeps no past of one key
    ],
    ids=["list", "list not older than", "get", "exact list", "page", "next page", "exact list of one"],
)
async def test_a_revision_that_does_not_come(
    client: Client,
    virtual_clock: VirtualClock,
    path: str,
    query: dict[str, str],
    seconds: float,
    retry_after: int | None,
) -> None:
    newest = (await past(client)).newest
    response = await ask(client, path, **{"version": "100000", **query})
    assert virtual_clock.monotonic() == pytest.approx(seconds)
    assert (response.status, response.body["reason"]) == (504, "Timeout")
    assert response.body["message"] == f"Timeout: Too large resource version: 100000, current: {newest}"
    assert response.body["details"]["causes"] == [
        {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    ]
    assert response.body["details"].get("retryAfterSeconds") == retry_after
    assert response.headers.get("retry-after") == (str(retry_after) if retry_after else None)


async def test_a_revision_that_comes_soon_is_waited_for(client: Client, virtual_clock: VirtualClock) -> None:
    then = await past(client)

    async def write() -> None:
        await virtual_clock.sleep(2)
        # Of another resource: how far the store is must be asked.
        await client.create(LEASES, {"metadata": {"name": "l"}, "spec": {}}, namespace="default")

    wanted = str(int(then.newest) + 1)
    listed, got, _ = await asyncio.gather(
        client.list(CONFIGMAPS, namespace="default", resource_version=wanted),
        client.get(CONFIGMAPS, "c4", namespace="default", resource_version=wanted),
        write(),
    )
    assert (names(listed.items), listed.resource_version) == (NEW, wanted)
    assert got["metadata"]["name"] == "c4"
    assert virtual_clock.monotonic() < 3


# -- pages


async def test_pages_count_down_what_remains(client: Client) -> None:
    for number in range(5):
        await client.create(CONFIGMAPS, config_map(f"c{number}"), namespace="default")
    token, remaining = "", []
    while True:
        page = await client.list(CONFIGMAPS, namespace="default", limit=2, continue_=token)
        remaining.append(page.remaining)
        await client.create(CONFIGMAPS, config_map(f"c{len(remaining)}x"), namespace="default")
        if not (token := page.continue_):
            break
    assert remaining == [3, 1, 0]


async def test_a_page_of_a_compacted_snapshot_can_go_on_inconsistently(client: Client, store: SqliteStore) -> None:
    then = await past(client)
    await client.create(CONFIGMAPS, config_map("c11"), namespace="default")
    await store.compact(store.revision)
    gone = await ask(client, PATH, **{"continue": then.token, "limit": "2"})
    assert (gone.status, gone.body["reason"]) == (410, "Expired")
    assert gone.body["message"] == (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list."
    )
    page = await ask(client, PATH, **{"continue": gone.body["metadata"]["continue"], "limit": "2"})
    assert names(page.body["items"]) == ["c11", "c2"]
    assert page.body["metadata"]["resourceVersion"] == str(store.revision)
    # From here on it is one snapshot again.
    await client.delete(CONFIGMAPS, "c3", namespace="default")
    rest = await ask(client, PATH, **{"continue": page.body["metadata"]["continue"]})
    assert (names(rest.body["items"]), rest.body["metadata"]["resourceVersion"]) == (
        ["c3", "c4"],
        page.body["metadata"]["resourceVersion"],
    )


async def test_a_compacted_version_is_too_old_for_an_exact_list(client: Client, store: SqliteStore) -> None:
    then = await past(client)
    await store.compact(store.revision)
    for query in ({"match": "Exact"}, {"limit": "1"}):
        response = await ask(client, PATH, version=then.old, **query)
        assert (response.status, response.body["reason"], response.body["message"]) == (410, "Expired", TOO_OLD)
    assert outcome(await ask(client, PATH, version=then.old)) == NEW


INVALID = "invalid continue token: continue key is not valid"
TOKEN_ROWS: list[tuple[str, str, str]] = [
    ("no base64", "a!b", f"{INVALID}: illegal base64 data at input byte 1"),
    ("cut off", "abcde", f"{INVALID}: illegal base64 data at input byte 4"),
    ("no JSON", "bad", f"{INVALID}: invalid character 'm' looking for beginning of value"),
    ("no object", token([1]), f"{INVALID}: json: cannot unmarshal array into Go value of type storage.continueToken"),
    ("nothing", token(None), f"{INVALID}: server does not recognize this encoded version "),
    (
        "a revision that is no number",
        token({"v": "meta.k8s.io/v1", "rv": "1", "start": "a"}),
        f"{INVALID}: json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
    ),
    (
        "half a revision",
        token({"v": "meta.k8s.io/v1", "rv": 1.5, "start": "a"}),
        f"{INVALID}: json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
    ),
    (
        "a start that is no text",
        token({"v": "meta.k8s.io/v1", "rv": 1, "start": [1]}),
        f"{INVALID}: json: cannot unmarshal array into Go struct field continueToken.start of type string",
    ),
    ("another place within", token({"v": "meta.k8s.io/v1", "rv": 1, "start": "a/./b"}), f"{INVALID}: a/./b"),
    ("behind its place", token({"v": "meta.k8s.io/v1", "rv": 1, "start": "a/../.."}), f"{INVALID}: a/../.."),
    (
        "of another version",
        token({"v": "meta.k8s.io/v9", "rv": 1, "start": "a"}),
        f"{INVALID}: server does not recognize this encoded version meta.k8s.io/v9",
    ),
    (
        "without a revision",
        token({"v": "meta.k8s.io/v1", "start": "a"}),
        f"{INVALID}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ),
    (
        "without a start",
        token({"v": "meta.k8s.io/v1", "rv": 1}),
        f"{INVALID}: encoded start key empty (version meta.k8s.io/v1)",
    ),
    ("out of its place", token({"v": "meta.k8s.io/v1", "rv": 1, "start": "../a"}), f"{INVALID}: ../a"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in TOKEN_ROWS], ids=[row[0] for row in TOKEN_ROWS])
async def test_tokens_that_are_none(client: Client, text: str, message: str) -> None:
    response = await ask(client, PATH, limit="1", **{"continue": text})
    assert (response.status, response.body["reason"], response.body["message"]) == (400, "BadRequest", message)


async def test_a_token_may_begin_at_the_beginning(client: Client) -> None:
    then = await past(client)
    start = token({"v": "meta.k8s.io/v1", "rv": int(then.newest), "start": "/"})
    assert outcome(await ask(client, PATH, **{"continue": start})) == NEW
    # The key that it names is the first of the page; those that this server makes name the key after the last one.
    start = token({"v": "meta.k8s.io/v1", "rv": int(then.newest), "start": "c2"})
    assert outcome(await ask(client, PATH, **{"continue": start})) == NEW[1:]
    made = await client.list(CONFIGMAPS, namespace="default", limit=1)
    assert orjson.loads(base64.urlsafe_b64decode(made.continue_ + "==")) == {
        "v": "meta.k8s.io/v1",
        "rv": int(then.newest),
        "start": "c1\0",
    }


async def test_a_token_does_not_lead_into_another_namespace(client: Client, store: SqliteStore) -> None:
    await make_namespace(client, "a")
    await client.create(CONFIGMAPS, config_map("secret"), namespace="a")
    await client.create(CONFIGMAPS, config_map("own"), namespace="default")
    for start in ("a/b", "a\0", "/a/b"):
        forged = token({"v": "meta.k8s.io/v1", "rv": store.revision, "start": start})
        found = await client.list(CONFIGMAPS, namespace="default", continue_=forged)
        assert "secret" not in names(found.items)


# -- watch


class Begins(NamedTuple):
    """What a watch delivers at once, after c0 was deleted and c4 made; `end` says that a bookmark ends it."""

    events: list[tuple[str, str]]
    end: bool = False


ALL = [("ADDED", "c1"), ("ADDED", "c2"), ("ADDED", "c3"), ("ADDED", "c4")]
SINCE = [("DELETED", "c0"), ("ADDED", "c4")]
BOOKMARKS = {"allowWatchBookmarks": "true"}
INITIAL = {"sendInitialEvents": "true", "match": "NotOlderThan"}
NONE = {"sendInitialEvents": "false", "match": "NotOlderThan"}
NEEDS_INITIAL = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
NEEDS_MATCH = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
WATCH_ROWS: list[tuple[str, dict[str, str], Begins]] = [
    ("unset", {}, Begins(ALL)),
    ("any", {"version": "0"}, Begins(ALL)),
    ("from a version", {"version": "old"}, Begins(SINCE)),
    ("from a version with bookmarks", {"version": "old", **BOOKMARKS}, Begins(SINCE)),
    ("unset with bookmarks", BOOKMARKS, Begins(ALL, end=True)),
    ("any with bookmarks", {"version": "0", **BOOKMARKS}, Begins(ALL, end=True)),
    ("initial events", {**INITIAL, **BOOKMARKS}, Begins(ALL, end=True)),
    ("initial events without bookmarks", INITIAL, Begins(ALL)),
    ("initial events of any", {**INITIAL, **BOOKMARKS, "version": "0"}, Begins(ALL, end=True)),
    ("initial events not older than", {**INITIAL, **BOOKMARKS, "version": "old"}, Begins(ALL, end=True)),
    ("no initial events", NONE, Begins([])),
    ("no initial events from any", {**NONE, "version": "0"}, Begins([])),
    ("no initial events from a version", {**NONE, "version": "old"}, Begins(SINCE)),
]


@pytest.mark.parametrize(("query", "begins"), [row[1:] for row in WATCH_ROWS], ids=[row[0] for row in WATCH_ROWS])
async def test_watch(client: Client, query: dict[str, str], begins: Begins) -> None:
    then = await past(client)
    asked = {key: then.old if value == "old" else value for key, value in query.items()}
    response = await ask(client, PATH, watch="true", timeoutSeconds="1", **asked)
    assert response.events is not None
    events = [event async for event in response.events]
    assert [(e.type, e.object["metadata"]["name"]) for e in events if e.type != "BOOKMARK"] == begins.events
    ends = [e.object["metadata"] for e in events if e.type == "BOOKMARK"]
    assert [end["resourceVersion"] for end in ends] == ([then.newest] if begins.end else [])
    assert all(end["annotations"]["k8s.io/initial-events-end"] == "true" for end in ends)


OLD_PATH = "/api/v1/watch/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("path", "query", "events"),
    [
        (OLD_PATH, {}, ALL),
        (f"{OLD_PATH}/c2", {}, [("ADDED", "c2")]),
        (f"{OLD_PATH}/c2", {"watch": "false"}, [("ADDED", "c2")]),
        (f"{OLD_PATH}/c2", {"fieldSelector": "metadata.name=c2"}, [("ADDED", "c2")]),
        (f"{OLD_PATH}/c0", {"version": "old"}, [("DELETED", "c0")]),
        ("/api/v1/watch/namespaces/default", {}, [("ADDED", "default")]),
        ("/api/v1/configmaps", {"watch": "", "fieldSelector": "metadata.namespace=default,metadata.name=c1"}, ALL[:1]),
    ],
    ids=["all", "one", "whatever the query says", "one twice", "one from a version", "a namespace", "by both fields"],
)
async def test_paths_that_say_watch(
    client: Client, path: str, query: dict[str, str], events: list[tuple[str, str]]
) -> None:
    """They are long out of use and still served; of one object too."""
    then = await past(client)
    asked = {key: then.old if value == "old" else value for key, value in query.items()}
    response = await ask(client, path, timeoutSeconds="1", **asked)
    assert response.events is not None
    assert [(event.type, event.object["metadata"]["name"]) async for event in response.events] == events


async def test_paths_that_say_watch_refuse(client: Client) -> None:
    other = await ask(client, f"{OLD_PATH}/c1", fieldSelector="metadata.name=c2")
    assert (other.status, other.body["message"]) == (400, "fieldSelector metadata.name doesn't match requested name")
    assert (await client.send("POST", OLD_PATH, body={})).status == 405


ONE = {"fieldSelector": "metadata.name=c1"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (ONE, ["c1"]),
        ({**ONE, "limit": "1", "version": "old"}, ["c1"]),
        ({"fieldSelector": "metadata.name=c0", "limit": "1", "version": "old"}, []),  # it is gone: this is not exact
        ({"fieldSelector": "metadata.name=c0", "match": "Exact", "version": "old"}, ["c0"]),
        ({**ONE, "continue": "no token"}, 400),
        ({**ONE, "continue": "token", "version": "old"}, 400),
        ({**ONE, "continue": "token"}, []),  # which is after c1
        ({"fieldSelector": "metadata.name=c1", "version": "abc"}, 400),
    ],
    ids=["newest", "page of a version", "of what is gone", "exact", "no token", "two places", "token", "no number"],
)
async def test_a_list_of_one_name_has_no_pages(client: Client, query: dict[str, str], expected: Any) -> None:
    """Its limit does not count (storage util.go ValidateListOptions, Recursive), and one that goes on is of no single
    name (MatchesSingle)."""
    then = await past(client)
    stands_for = {"old": then.old, "token": then.token}
    found = outcome(await ask(client, PATH, **{key: stands_for.get(value, value) for key, value in query.items()}))
    assert (found[0] if expected == 400 else found) == expected


async def test_selectors_are_looked_at_before_revisions_and_tokens(client: Client) -> None:
    for query in ({"version": "abc"}, {"continue": "x"}, {"version": "abc", "watch": "1"}):
        answer = await ask(client, PATH, fieldSelector="spec.none=x", **query)
        assert (answer.status, answer.body["message"].partition(":")[0]) == (
            400,
            '"spec.none" is not a known field selector',
        )


async def test_pages_by_an_index_end_with_it(client: Client, default_account: Object) -> None:
    """A page of the newest state is looked up in the cache, by its index: what is not in that is not still to come."""
    for name, node in (("a", "n1"), ("b", "n2"), ("c", "n1"), ("d", "n2")):
        await client.create(PODS, pod(name, nodeName=node), namespace="default")
    then = (await client.list(PODS)).resource_version
    for page in (
        partial(client.list, PODS, field_selector="spec.nodeName=n1"),
        partial(
            client.list,
            PODS,
            field_selector="spec.nodeName=n1",
            resource_version=then,
            resource_version_match="NotOlderThan",
        ),
    ):
        first = await page(limit=1)
        rest = await client.list(PODS, field_selector="spec.nodeName=n1", limit=1, continue_=first.continue_)
        assert (names(first.items), names(rest.items), rest.continue_ != "") == (["a"], ["c"], True)
        assert (await page(limit=2)).continue_ == ""


async def test_a_page_of_one_namespace_by_its_field(client: Client) -> None:
    """The selector narrows the list of all namespaces to the one, and with a name to one key: nothing comes after."""
    await past(client)
    await make_namespace(client, "zoo")
    await client.create(CONFIGMAPS, config_map("c9"), namespace="zoo")
    fields = "metadata.namespace=default,metadata.name=c4"
    for selector in (fields, "metadata.namespace=default,metadata.name!=c1,metadata.name!=c2,metadata.name!=c3"):
        page = await ask(client, "/api/v1/configmaps", fieldSelector=selector, limit="1")
        assert names(page.body["items"]) == ["c4"]
        assert "continue" not in page.body["metadata"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"match": "NotOlderThan", "version": "1"}, forbidden(NEEDS_INITIAL)),
        ({"sendInitialEvents": "true"}, forbidden(NEEDS_MATCH)),
        ({**INITIAL, "continue": "x"}, forbidden(WITH_CONTINUE)),
        (
            {"version": "abc"},
            (500, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'),
        ),
        ({"timeoutSeconds": "0.1s"}, (400, 'strconv.ParseInt: parsing "0.1s": invalid syntax')),
    ],
    ids=["match alone", "initial events without match", "continue", "no number", "no seconds"],
)
async def test_watch_refused(client: Client, query: dict[str, str], expected: tuple[int, str]) -> None:
    response = await ask(client, PATH, watch="1", **query)
    assert response.events is None
    assert (response.status, response.body["message"]) == expected


async def test_initial_events_of_a_state_to_come(client: Client, virtual_clock: VirtualClock) -> None:
    """The watch is open by then: it fails with an event, as upstream's does."""
    then = await past(client)
    response = await ask(client, PATH, watch="1", version="100000", **INITIAL)
    assert response.events is not None
    [event] = [event async for event in response.events]
    assert (event.type, event.object["code"]) == ("ERROR", 504)
    assert virtual_clock.monotonic() == pytest.approx(3.0)
    assert event.object["message"] == f"Timeout: Too large resource version: 100000, current: {then.newest}"


async def test_a_watch_from_the_future_begins_there(client: Client) -> None:
    then = await past(client)
    async with await client.watch(CONFIGMAPS, resource_version=str(int(then.newest) + 2)) as watch:
        for name in ("x", "y", "z"):
            await client.create(CONFIGMAPS, config_map(name), namespace="default")
        assert await take(watch, 1) == [("ADDED", "z")]


# -- what a write may say


async def test_an_object_to_be_created_has_no_version(client: Client) -> None:
    brought = config_map("a")
    brought["metadata"]["resourceVersion"] = "7"
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, brought, namespace="default")
    assert (caught.value.code, caught.value.reason) == (500, "")
    assert caught.value.message == "resourceVersion should not be set on objects to be created"
    for version in ("0", "-1", "abc"):  # which count as none
        made = config_map(f"a{version}")
        made["metadata"]["resourceVersion"] = version
        stored = await client.create(CONFIGMAPS, made, namespace="default")
        assert stored["metadata"]["resourceVersion"] not in ("0", "-1", "abc")


async def test_what_is_wrong_with_the_object_comes_before_its_version(client: Client) -> None:
    brought: Object = config_map("A!")
    brought["metadata"]["resourceVersion"] = "7"
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, brought, namespace="default")
    assert caught.value.code == 422


async def test_an_update_with_a_version_that_is_no_number(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    changed = {**made, "metadata": {**made["metadata"], "resourceVersion": "abc"}, "data": {"x": "1"}}
    with pytest.raises(ApiError) as caught:
        await client.update(CONFIGMAPS, changed)
    assert (caught.value.code, caught.value.message) == (500, 'strconv.ParseUint: parsing "abc": invalid syntax')


async def test_the_last_event_before_the_edge_of_the_ring(client: Client) -> None:
    """1,000 events fill the ring of 1,000: none is forgotten yet. One more, and the first is."""
    listed = await client.list(CONFIGMAPS)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    for number in range(999):
        await client.patch(CONFIGMAPS, "a", {"data": {"n": str(number)}}, namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        seen = [await next_event(watch) for _ in range(1000)]
    first = int(listed.resource_version) + 1
    assert [event.revision for event in seen] == list(range(first, first + 1000))
    await client.patch(CONFIGMAPS, "a", {"data": {"n": "last"}}, namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        gone = await next_event(watch)
    assert (gone.type, gone.object["code"], gone.object["reason"]) == ("ERROR", 410, "Expired")
    assert gone.object["message"] == f"too old resource version: {first - 1} ({first})"
    async with await client.watch(CONFIGMAPS, resource_version=str(first)) as watch:
        assert (await next_event(watch)).revision == first + 1
