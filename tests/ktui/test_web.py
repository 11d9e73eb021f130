"""`ktui web` in a real browser: the page shows the screen, and a key that is pressed there reaches it."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_SECONDS = 60
ROOT = Path(__file__).parents[2]
KTUI = (sys.executable, "-m", "ktui")
WIDTHS = """
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = "16px 'Roboto Mono', Monaco, 'Courier New', monospace";  // as the terminal's
    [..."M①②⑨⑩⑪⑫"].map((letter) => pen.measureText(letter).width)
"""
pytest.importorskip("textual_serve")


class Page:
    """A page as the DevTools protocol shows it; `drawn` is what came to it over its WebSocket."""

    def __init__(self, wire: aiohttp.ClientWebSocketResponse) -> None:
        self.drawn = ""
        self._wire = wire
        self._numbers = count(1)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._wire.send_json({"id": number, "method": method, "params": params})
        while True:
            told = await self._next()
            if told.get("id") == number:
                result: dict[str, Any] = told["result"]
                return result

    async def until(self, holds: Callable[[str], bool]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not holds(self.drawn):
                    await self._next()
        except TimeoutError:
            raise AssertionError(f"it was not drawn in {PATIENCE_SECONDS} s, but {self.drawn[-4000:]!r}") from None

    async def _next(self) -> dict[str, Any]:
        told: dict[str, Any] = await self._wire.receive_json()
        if told.get("method") == "Network.webSocketFrameReceived":
            frame = told["params"]["response"]
            data = frame["payloadData"]
            self.drawn += base64.b64decode(data).decode(errors="replace") if frame["opcode"] == 2 else data
        return told


@contextmanager
def running(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        words, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=20)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    assert CHROMIUM is not None
    port = free_port()
    words = (
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--window-size=1200,800", f"--user-data-dir={folder}", f"--remote-debugging-port={port}", "about:blank",
    )  # fmt: skip
    with running(*words):
        async with aiohttp.ClientSession() as http:
            address = await _until_answered(http, f"http://127.0.0.1:{port}/json")
            async with http.ws_connect(address[0]["webSocketDebuggerUrl"], max_msg_size=0) as wire:
                yield Page(wire)


async def _until_answered(http: aiohttp.ClientSession, url: str) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                async with http.get(url) as answer:
                    return await answer.json() if "json" in answer.content_type else await answer.text()
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a person who has had the tour; who comes first starts the cluster."""
    (tmp_path / ".state").mkdir()
    (tmp_path / ".state" / "toured").touch()
    home = {"KTUI_HOME": str(tmp_path)}
    yield home
    subprocess.run((*KTUI, "down"), cwd=ROOT, env={**os.environ, **home}, check=True, stdout=subprocess.DEVNULL)


class Visit:
    """A visitor without a browser: what comes over the WebSocket of the page."""

    def __init__(self, wire: aiohttp.ClientWebSocketResponse) -> None:
        self._wire = wire

    async def until_drawn(self, words: str) -> None:
        drawn = ""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while words not in drawn:
                drawn += (await self._wire.receive_bytes()).decode(errors="replace")

    async def type(self, text: str) -> None:
        await self._wire.send_json(["stdin", text])

    async def until_closed(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for _ in self._wire:
                pass


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
async def test_the_page_shows_the_screen_and_takes_a_key_beside_another_visitor(
    tmp_path: Path, home: dict[str, str]
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running(*KTUI, "web", f"--port={port}", **home):
        async with aiohttp.ClientSession() as http:
            assert "ktui default" in await _until_answered(http, f"{url}/")
            await _check_links(http, url)
            async with (
                browser(tmp_path / "chromium") as page,
                http.ws_connect(f"{url}/ws?width=100&height=30") as wire,
            ):
                await asyncio.gather(_check_page(page, url), _check_visit(Visit(wire)))


async def _check_visit(visit: Visit) -> None:
    await visit.until_drawn("3/3")
    await visit.type("\x03")
    await visit.until_closed()


async def _check_links(http: aiohttp.ClientSession, url: str) -> None:
    """They lead where the browser came from, all of them; and no other site's page gets a terminal."""
    away = {"Host": "ktui.example", "X-Forwarded-Proto": "https"}
    async with http.get(f"{url}/", headers=away) as answer:
        page = await answer.text()
        assert 'data-session-websocket-url="wss://ktui.example/ws"' in page
        fetched = re.findall(r'(?:href|src)="(https?://[^"]+)"', page)
        assert {urlsplit(link).netloc for link in fetched} == {"ktui.example"}
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await http.ws_connect(f"{url}/ws", origin="http://elsewhere.example")


async def _check_page(page: Page, url: str) -> None:
    await page.ask("Network.enable")
    await page.ask("Page.navigate", url=f"{url}/")
    await page.until(lambda drawn: "3/3" in drawn and "Objects" in drawn)
    await page.ask("Input.dispatchKeyEvent", type="keyDown", key="2", text="2")
    await page.until(lambda drawn: "NAMESPACE" in drawn)
    picture = await page.ask("Page.captureScreenshot", format="png")
    assert len(picture["data"]) > 14_000  # a page on which nothing is drawn has two or three thousand
    widths = (await page.ask("Runtime.evaluate", expression=WIDTHS, returnByValue=True))["result"]["value"]
    assert max(widths[1:]) <= widths[0] + 0.5, "the numbers of the hops are as wide as a letter"
