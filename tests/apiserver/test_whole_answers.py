"""Answers that are written at once."""

from __future__ import annotations

import asyncio

import pytest

from engine.apiserver.http import HttpServer
from engine.apiserver.server import ApiServer
from engine.apiserver.whole_answers import WholeAnswer
from engine.world import World


async def test_a_connection_is_answered_in_order_until_it_is_to_end(server: ApiServer, world: World) -> None:
    http = HttpServer(server, host="127.0.0.1", port=0, ssl_context=None, world=world)
    await http.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
    for method, path, more in (
        ("GET", "/healthz", ""),
        ("GET", "/livez", ""),
        ("GET", "/readyz", "Connection: close\r\n"),
    ):
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode())
    answers = (await reader.read()).decode().split("HTTP/1.1 ")[1:]
    writer.close()
    await http.stop()
    assert [each.partition("\r\n")[0] for each in answers] == ["200 OK"] * 3
    assert [each.partition("\r\n\r\n")[2] for each in answers] == ["ok"] * 3
    assert ["Content-Length: 2" in each for each in answers] == [True] * 3
    assert ["Connection: close" in each for each in answers] == [False, False, True]


def test_no_header_ends_its_line() -> None:
    for value in ("a\r\nx: b", "a\nb", "a\rb", "a\0b"):
        with pytest.raises(ValueError, match="would end its line"):
            WholeAnswer(200, {"audit-id": value}, b"{}")
