"""kill -9 of `ktui up` at random moments under load over HTTPS: nothing acknowledged is lost, nothing refused is there,
and watchers that come back see each event once.

Writers and watchers live on in this process while the server is killed and started again. KTUI_KILL_ROUNDS=200 is the
long run. The moment of the kill is this machine's time: it is the chance in this test.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS
from engine.api.wire import WatchEvent
from engine.client import Client
from engine.clock import Clock
from engine.rng import Rng
from ktui.connect import connect
from tests.apiserver.conftest import config_map

ROUNDS = int(os.environ.get("KTUI_KILL_ROUNDS", "2"))
SEED = os.environ.get("KTUI_KILL_SEED", "1")
ROOT = Path(__file__).parent.parent.parent
WRITERS = 6
OPTIONS = ("--components=apiserver", "--watch-cache-sizes=configmaps#100000")


class Server:
    """The process that is killed and started again in the same folder, on the same port."""

    def __init__(self, home: Path) -> None:
        self.kubeconfig = home / "default" / "kubeconfig"
        self._environment = {**os.environ, "KTUI_HOME": str(home)}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, *options: str) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ktui", "up", *OPTIONS, *options),
            cwd=ROOT,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        assert await self._process.stdout.readline(), "the server did not start"

    async def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await process.communicate()


@dataclass
class Writer:
    """Counts up the data of its own object; every fifth step deletes it and the next makes it again.

    `acknowledged` is the last step that was, with its revision where it has one; a step that was not may have
    happened or not, but no other.
    """

    client: Client
    clock: Clock
    name: str
    acknowledged: int = 0
    revisions: list[int] = field(default_factory=list)
    refused: int = 0

    async def run(self) -> None:
        while True:
            try:
                await self._resume()
                while True:
                    await self._step(self.acknowledged + 1)
            except ConnectionError:
                await self.clock.sleep(0.05)
            except ApiError as error:
                if error.code != 503:
                    raise
                await self.clock.sleep(0.05)

    async def _resume(self) -> None:
        """See what became of the step that was under way."""
        known = self.acknowledged
        try:
            stands = int((await self.client.get(CONFIGMAPS, self.name, namespace="default"))["data"]["n"])
        except ApiError as error:
            if error.code != 404:
                raise
            stands = known if deletes(known) or not known else known + 1
            assert not known or deletes(stands), f"{self.name} is gone at {known}"
        assert stands in (known, known + 1), f"{self.name} stands at {stands}, acknowledged was {known}"
        self.acknowledged = stands

    async def _step(self, number: int) -> None:
        obj = config_map(self.name, {"parity": parity(number)}, n=str(number))
        if deletes(number):
            await self.client.delete(CONFIGMAPS, self.name, namespace="default")
        elif number == 1 or deletes(number - 1):
            made = await self.client.create(CONFIGMAPS, obj, namespace="default")
            self.revisions.append(int(made["metadata"]["resourceVersion"]))
        else:
            made = await self.client.update(
                CONFIGMAPS, {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}
            )
            self.revisions.append(int(made["metadata"]["resourceVersion"]))
        self.acknowledged = number
        if number % 3 == 0 and not deletes(number):
            await self._be_refused(made["metadata"]["resourceVersion"])

    async def _be_refused(self, version: str) -> None:
        """An update of a state that is past."""
        stale = config_map(self.name, n="refused")
        stale["metadata"] |= {"namespace": "default", "resourceVersion": str(int(version) - 1)}
        try:
            await self.client.update(CONFIGMAPS, stale)
        except ApiError as error:
            if error.code != 409:
                raise
            self.refused += 1
        else:
            raise AssertionError("a stale update was taken")


def deletes(number: int) -> bool:
    return number > 0 and number % 5 == 0


def parity(number: int) -> str:
    return "odd" if number % 2 else "even"


@dataclass
class Watcher:
    """Watches, and comes back from the last revision that it saw; `seen` is the type and the step of each event."""

    client: Client
    clock: Clock
    parity: str  # that it selects; "" for all
    version: str
    seen: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    returns: int = 0

    async def run(self) -> None:
        while True:
            try:
                stream = await self.client.watch(
                    CONFIGMAPS,
                    namespace="default",
                    resource_version=self.version,
                    label_selector=f"parity={self.parity}" if self.parity else "",
                    allow_bookmarks=True,
                )
                async with stream:
                    async for event in stream:
                        self._take(event)
            except ConnectionError:
                pass
            except ApiError as error:
                if error.code != 503:
                    raise
            self.returns += 1
            await self.clock.sleep(0.02)

    def _take(self, event: WatchEvent) -> None:
        assert event.type != "ERROR", event.object
        version = event.object["metadata"]["resourceVersion"]
        if event.type != "BOOKMARK":
            assert int(version) > int(self.version), "an event came again"
            seen = self.seen.setdefault(event.object["metadata"]["name"], [])
            seen.append((event.type, int(event.object["data"]["n"])))
        self.version = version

    def expected(self, last: int) -> list[tuple[str, int]]:
        """What it sees of an object that has gone through so many steps; a deletion carries the last state."""
        events = []
        for number in range(1, last + 1):
            now, before = self._selects(number), number > 1 and self._selects(number - 1)
            if now:
                events.append(("MODIFIED" if before else "ADDED", number))
            elif before:
                events.append(("DELETED", number - 1))
        return events

    def _selects(self, number: int) -> bool:
        return not deletes(number) and self.parity in ("", parity(number))


async def check_log(client: Client, after: int) -> int:
    """Every revision after one is in the log, once; the newest of them."""
    revisions: list[int] = []
    newest = after
    while True:
        query = {"after": [str(newest)], "limit": ["1000"]}
        answer: dict[str, Any] = await client.request("GET", "/debug/ktui/store/log", query=query)
        revisions += list(dict.fromkeys(entry["revision"] for entry in answer["entries"]))
        if not answer["entries"]:
            break
        newest = revisions[-1]
    assert revisions == list(range(after + 1, newest + 1))
    return newest


def check_events(watchers: list[Watcher], writers: list[Writer]) -> None:
    """Each watcher has seen each step of each object that is for it, once and in order."""
    for writer in writers:
        # To who selects nothing each step is an event. On a busy machine a writer may not have come far.
        last = len(watchers[0].seen.get(writer.name, []))
        assert writer.acknowledged <= last <= writer.acknowledged + 1
        assert len(set(writer.revisions)) == len(writer.revisions)
        for watcher in watchers:
            assert watcher.seen.get(writer.name, []) == watcher.expected(last), (writer.name, watcher.parity)


async def test_kill_9_under_load_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    server, rng, clock = Server(tmp_path), Rng(SEED), Clock()
    try:
        await server.start("--port=0")
        client = connect(server.kubeconfig)
        listed = await client.list(CONFIGMAPS, namespace="default")
        writers = [Writer(client, clock, f"w{number}") for number in range(WRITERS)]
        watchers = [Watcher(client, clock, selected, listed.resource_version) for selected in ("", "odd", "even", "")]
        runs = [*(writer.run() for writer in writers), *(watcher.run() for watcher in watchers)]
        tasks = [asyncio.create_task(run) for run in runs]
        revision = int(listed.resource_version)
        for _ in range(ROUNDS):
            await clock.sleep(rng.uniform(0.05, 0.8))
            await server.kill()
            await server.start()
            revision = await check_log(client, revision)
        async with clock.timeout(60):  # under load once more: a slow machine's writers may not have come so far before
            while not sum(writer.refused for writer in writers):
                await clock.sleep(0.02)
        for task in tasks[:WRITERS]:
            task.cancel()
        ended = await asyncio.gather(*tasks[:WRITERS], return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended
        for name, selected in (("end-odd", "odd"), ("end-even", "even")):
            await client.create(CONFIGMAPS, config_map(name, {"parity": selected}, n="1"), namespace="default")
        async with clock.timeout(30):
            while not all({"end-odd", "end-even"} & watcher.seen.keys() for watcher in watchers):
                assert not any(task.done() for task in tasks[WRITERS:]), [task for task in tasks if task.done()]
                await clock.sleep(0.02)
        check_events(watchers, writers)
        assert all(watcher.returns >= ROUNDS for watcher in watchers)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()
    finally:
        await server.kill()
