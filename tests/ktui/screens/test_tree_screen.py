"""Tree: what is seen of it as objects come, and its order."""

from __future__ import annotations

from engine.api.types import DEPLOYMENTS, Object
from tests.ktui.screens.conftest import Show


def deployment(name: str, replicas: int = 1) -> Object:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    }
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


async def test_the_cursor_stays_in_sight_as_rows_come_above_it(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.client.create(DEPLOYMENTS, deployment("web"), namespace="default")
        await driver.press("9")
        await driver.sees("▌✓ deployment/web")
        await driver.press("2")
        await driver.client.create(DEPLOYMENTS, deployment("broken", 6), namespace="default")
        await driver.client.create(DEPLOYMENTS, deployment("filler", 6), namespace="default")
        await driver.press("9")
        await driver.sees("  32", "▌✓ deployment/web")


async def test_the_sorted_tree_is_a_tree(show: Show) -> None:
    async with show(size=(120, 40)) as driver:
        for name in ("a", "b"):
            await driver.client.create(DEPLOYMENTS, deployment(name), namespace="default")
        await driver.press("9")
        await driver.until(lambda: driver.picture.count("Running") >= 4)
        await driver.press("o", "O")
        await driver.sees("OBJECT↓")
        rows = [line for line in driver.picture.splitlines() if "─ ✓ " in line or "✓ deployment/" in line]
        marks = [
            f"{line}{name}"
            for owner in ("b", "a")
            for line, name in (
                ("✓ deployment/", owner),
                ("└─ ✓ replicaset/", f"{owner}-"),
                ("   └─ ✓ pod/", f"{owner}-"),
                ("      └─ ✓ main  ", "nginx"),
            )
        ]
        assert len(rows) == len(marks)
        assert all(mark in row for mark, row in zip(marks, rows, strict=True))
