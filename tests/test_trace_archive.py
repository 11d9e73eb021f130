"""Spans on disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from engine.trace import Hop, SpanContext
from engine.trace.archive import RecentTraces, TraceArchive
from engine.world import World


async def kept(file: Path, world: World) -> list[str]:
    """The objects of a trace's spans, written by one archive and read by the next."""
    archive = TraceArchive(file, world.tracer, world.clock)
    await archive.start()
    with world.tracer.span(Hop.CLIENT, component="kubectl", verb="create", object="pod/default/a") as span:
        pass
    await archive.stop()
    archive = TraceArchive(file, world.tracer, world.clock)
    await archive.start()
    assert await archive.find("pod/default/a") == span.trace_id
    found = [each["object"] for each in await archive.spans(span.trace_id)]
    await archive.stop()
    return found


async def test_spans_outlive_a_restart(world: World, tmp_path: Path) -> None:
    assert await kept(tmp_path / "traces.db", world) == ["pod/default/a"]


async def test_a_write_that_was_only_tried_is_not_the_newest_of_its_object(world: World, tmp_path: Path) -> None:
    archive = TraceArchive(tmp_path / "traces.db", world.tracer, world.clock)
    await archive.start()
    written = []
    queries: list[dict[str, list[str]]] = [{}, {"dryRun": ["All"]}]
    for query in queries:
        detail = {"method": "PATCH", "path": "/api/v1/namespaces/default/pods/a", "query": query}
        with world.tracer.span(
            Hop.CLIENT, component="kubectl", verb="patch", object="pod/default/a", detail=detail
        ) as span:
            written.append(span.trace_id)
    assert await archive.find("pod/default/a") == written[0]
    assert await RecentTraces(world.tracer).find("pod/default/a") == written[0]
    await archive.stop()


async def test_spans_of_several_traces_come_back_whole_and_in_their_order(world: World, tmp_path: Path) -> None:
    archive = TraceArchive(tmp_path / "traces.db", world.tracer, world.clock)
    await archive.start()
    traces: dict[str, list[str]] = {}
    for step in range(3):
        for name in ("a", "b"):
            cause = SpanContext(name * 32, "1" * 16)
            with world.tracer.span(
                Hop.STORE, component="etcd", verb="create", object=f"pod/{name}", cause=cause
            ) as span:
                traces.setdefault(span.trace_id, []).append(span.id)
        if step == 1:
            assert await archive.find("pod/b") == "b" * 32  # the third step is in a batch of its own
    for trace, spans in traces.items():
        assert [span["id"] for span in await archive.spans(trace)] == spans
    await archive.stop()


async def test_a_damaged_file_is_set_aside(world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "traces.db"
    file.write_text("junk")
    assert await kept(file, world) == ["pod/default/a"]
    assert (tmp_path / "traces.db.damaged").read_text() == "junk"
    assert "is damaged (file is not a database): set aside as traces.db.damaged" in caplog.text


async def test_spans_that_cannot_be_written_are_lost_and_no_others(world: World, tmp_path: Path) -> None:
    file = tmp_path / "traces.db"
    archive = TraceArchive(file, world.tracer, world.clock)
    await archive.start()

    def run(statement: str) -> None:
        with closing(sqlite3.connect(file)) as other:
            other.execute(statement)

    async def written(name: str) -> str:
        with world.tracer.span(Hop.CLIENT, component="kubectl", verb="create", object=f"pod/default/{name}"):
            pass
        return await archive.find(f"pod/default/{name}")

    # Any failure of the database will do for a full disk.
    run("ALTER TABLE runs RENAME TO away")
    assert await written("a") == ""
    assert archive.dropped == 1
    run("ALTER TABLE away RENAME TO runs")
    assert await written("b")
    assert await archive.find("pod/default/a") == ""
    assert archive.dropped == 1
    run("ALTER TABLE runs RENAME TO away")
    with world.tracer.span(Hop.CLIENT, component="kubectl", verb="create", object="pod/default/c"):
        pass
    await archive.stop()
    assert archive.dropped == 2


async def test_a_span_comes_back_as_it_was_told(world: World, tmp_path: Path) -> None:
    archive = TraceArchive(tmp_path / "traces.db", world.tracer, world.clock)
    await archive.start()
    trace = ""
    for seconds in (0.0, 1.25):
        await world.clock.sleep(seconds)
        detail = {"plugins": [{"name": "A"}], "status": 201}
        with world.tracer.span(
            Hop.STORE, component="etcd", verb="create", object="pod/a", woken_by=(3, 4), revision=7, detail=detail
        ) as span:
            span.model_ms = 1.23456
        trace = span.trace_id
        [found] = await archive.spans(trace)
        assert found == span.to_json()
        assert [*found] == [*span.to_json()]
    with closing(sqlite3.connect(tmp_path / "traces.db")) as database:  # as archives were kept of old
        body = orjson.dumps([span.to_json()])
        database.execute("UPDATE runs SET body = ? WHERE trace = ?", (body, trace))
        database.commit()
    assert await archive.spans(trace) == [span.to_json()]
    await archive.stop()
