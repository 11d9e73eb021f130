"""Every screen while the engine is away, refuses, or is none: what is wrong stands there, and what to do about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from engine.api.errors import ApiError, forbidden, path_not_found, unauthorized
from engine.api.types import PODS
from engine.api.wire import Request, Response
from engine.client import Client
from engine.world import World
from ktui.app import KtuiApp
from ktui.models.trouble import ASKING, LOST, advice
from ktui.screens.catalogue import CATALOGUE
from ktui.session import Session
from tests.ktui import recorded
from tests.ktui.screens.driver import Driver

FORBIDDEN = 'User "jane" cannot list resource "pods" in API group "" at the cluster scope'
TABLES = [entry for entry in CATALOGUE if entry.name not in ("flow", "store")]


class Engine:
    """Answers what was recorded, until it is told what to raise."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self._recorded = recorded.RecordedTransport()

    async def send(self, request: Request) -> Response:
        if self.error is not None:
            await asyncio.sleep(0)
            raise self.error
        return await self._recorded.send(request)

    async def close(self) -> None:
        """Nothing to close."""


@asynccontextmanager
async def shown(engine: Engine, *, is_alive: Callable[[], bool] | None = None) -> AsyncIterator[Driver]:
    session = Session(
        name="127.0.0.1:6443", client=Client(engine, user_agent="ktui"), world=World.create(), is_alive=is_alive
    )
    app = KtuiApp(session)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        yield Driver(app, pilot)


@pytest.mark.parametrize(
    ("error", "is_alive", "words"),
    [
        pytest.param(ConnectionError("refused"), None, "cannot be reached · trying again · q leaves", id="wrong URL"),
        pytest.param(ConnectionError("refused"), lambda: False, "has ended · :up starts it again", id="engine ended"),
        pytest.param(ConnectionError("reset"), lambda: True, "lost the connection to the engine", id="connection lost"),
        pytest.param(forbidden(PODS, "", FORBIDDEN), None, "these credentials may not look inside", id="403"),
        pytest.param(forbidden(PODS, "", FORBIDDEN), None, "These credentials may not see what happens", id="Flow"),
        pytest.param(unauthorized(), None, "these credentials are not known here", id="401"),
        pytest.param(path_not_found(), None, "there is a server, but it is not ktui's", id="another server"),
    ],
)
async def test_the_bar_says_what_is_wrong(error: Exception, is_alive: Callable[[], bool] | None, words: str) -> None:
    async with shown(Engine(error), is_alive=is_alive) as driver:
        await driver.sees("✖", words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param(ConnectionError("refused"), LOST, id="no connection"),
        pytest.param(forbidden(PODS, "", FORBIDDEN), f"pods is forbidden: {FORBIDDEN}", id="403"),
        pytest.param(unauthorized(), "Unauthorized", id="401"),
    ],
)
async def test_a_table_without_rows_says_why_and_what_to_do(error: ApiError | ConnectionError, words: str) -> None:
    what_to_do = advice(words, starts_engine=False)
    async with shown(Engine(error)) as driver:
        for entry in TABLES:
            await driver.press(entry.key)
            await driver.sees(f"✖ {words}"[:20], what_to_do[:40])


@pytest.mark.parametrize(("starts_engine", "who"), [(True, ":up"), (False, "whoever")])
async def test_who_starts_an_engine_that_has_ended(starts_engine: bool, who: str) -> None:
    async def begin() -> None:
        raise ConnectionError("refused")

    async with shown(Engine(ConnectionError("refused"))) as driver:
        driver.app.session.begin = begin if starts_engine else None
        await driver.press("3")
        await driver.sees(who)
        await driver.press("9")
        await driver.sees(who)
        if not starts_engine:
            await driver.command("up")
            await driver.sees("the engine is another's")


async def test_the_store_says_why_it_has_no_keys_and_what_to_do() -> None:
    async with shown(Engine(ConnectionError("refused"))) as driver:
        await driver.press("3")
        await driver.sees(f"✖ {LOST}", "It is tried again all the time")
        await driver.misses("No key begins with this")


async def test_rows_stay_while_the_connection_is_lost_and_are_current_again_after() -> None:
    engine = Engine()
    async with shown(engine) as driver:
        await driver.press("6")
        await driver.sees("gpu-0")
        engine.error = ConnectionError("reset")
        await driver.sees("gpu-0", f"✖ {LOST}")
        engine.error = None
        await driver.misses(LOST)
        await driver.sees("gpu-0")


class Silent(Engine):
    """Takes every question, and has not answered one yet."""

    async def send(self, request: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")


SAID_OF_NOTHING = (
    "No node here", "No controller", "No workloads", "No Pod", "No pods", "Nobody watches", "Nothing was written",
    "Nothing has happened", "no write of a client is seen", "reconciled nothing",
)  # fmt: skip


async def test_nothing_is_said_to_be_missing_before_it_was_asked_for() -> None:
    async with shown(Silent()) as driver:
        for entry in CATALOGUE:
            if entry.name != "dashboard":
                await driver.command(entry.name)
                await driver.sees(ASKING)
                assert not [words for words in SAID_OF_NOTHING if words in driver.picture], entry.name


class Empty(Engine):
    """Has no workload, until it takes every question and answers none."""

    is_silent = False

    async def send(self, request: Request) -> Response:
        if self.is_silent:
            await asyncio.Event().wait()
        answer = await super().send(request)
        return Response(200, {"items": []}) if isinstance(answer.body, dict) and "items" in answer.body else answer


@pytest.mark.parametrize("again", ["back", "namespace"])
async def test_what_was_empty_may_not_be_when_it_is_looked_at_again(again: str) -> None:
    engine = Empty()
    async with shown(engine) as driver:
        await driver.command("tree")
        await driver.sees("No workloads here")
        engine.is_silent = True
        if again == "namespace":
            driver.app.use_namespace("shop")
        else:
            await driver.press("1", "9")
        await driver.sees(ASKING)
        await driver.misses("No workloads here")


async def test_what_is_of_another_namespace_is_not_shown() -> None:
    async with shown(Engine()) as driver:
        await driver.command("tree")
        await driver.sees("deployment/web")
        driver.app.session.client = Client(Silent(), user_agent="ktui")
        driver.app.use_namespace("shop")
        await driver.sees(ASKING)
        await driver.misses("deployment/web")


async def test_the_palette_asks_as_long_as_it_does_not_know_all_names() -> None:
    async with shown(Silent()) as driver:
        await driver.press("ctrl+p")
        await driver.type("web-7b78")
        await driver.sees(ASKING)
        await driver.misses("No matches found")
