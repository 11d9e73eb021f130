"""What a line after `:` can go on with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from engine.kubectl.tree import ROOT
from ktui.models import own_commands
from ktui.models.completion import common, complete, files


class Names:
    """A server of two kinds."""

    async def kinds(self) -> list[str]:
        return ["deployments", "pods", "nodes"]

    async def names(self, kind: str, namespace: str) -> list[str]:
        known = {"pods": ["web-1", "web-2"], "nodes": ["node-1"], "namespaces": ["default", "shop"]}
        return [f"{namespace}-{name}" if namespace else name for name in known.get(kind, [])]

    async def containers(self, pod: str, namespace: str) -> list[str]:
        return [f"{namespace}{pod}-main", f"{namespace}{pod}-side"]


async def ask(text: str) -> list[str]:
    return await complete(text, root=ROOT, screens=["flow", "store"], themes=["dark", "light"], source=Names())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("fl", ["flow"], id="a screen"),
        pytest.param("desc", ["describe"], id="a verb"),
        pytest.param("dep", ["deployments"], id="a kind"),
        pytest.param("kubectl desc", ["describe"], id="kubectl in front"),
        pytest.param("theme l", ["light"], id="a theme"),
        pytest.param("split s", ["store"], id="a screen beside this one"),
        pytest.param("export ", ["mermaid", "svg", "text"], id="what can be exported"),
        pytest.param("ns s", ["shop"], id="a namespace to go to"),
        pytest.param("get po", ["pods"], id="a kind after a verb"),
        pytest.param("get pods ", ["web-1", "web-2"], id="names of a kind"),
        pytest.param("get pods -n shop ", ["shop-web-1", "shop-web-2"], id="names in a namespace"),
        pytest.param("get pods -n d", ["default"], id="a namespace"),
        pytest.param("get pods/w", ["pods/web-1", "pods/web-2"], id="names behind a slash"),
        pytest.param("logs w", ["web-1", "web-2"], id="Pods for logs"),
        pytest.param("cordon n", ["node-1"], id="nodes for cordon"),
        pytest.param("rollout resta", ["restart"], id="a command's own commands"),
        pytest.param("scale --rep", ["--replicas"], id="flags"),
        pytest.param("pods s", ["shop"], id="a namespace behind a kind"),
        pytest.param("get pods -o js", ["json", "jsonpath", "jsonpath-as-json", "jsonpath-file"], id="a format"),
        pytest.param("get pods -o w", ["wide"], id="a format of get alone"),
        pytest.param("create cm a -o w", [], id="a format that others have not"),
        pytest.param("get pods --output=y", ["--output=yaml"], id="a format behind a sign"),
        pytest.param("delete pods --cascade=o", ["--cascade=orphan"], id="a value of a flag"),
        pytest.param("get pods -l ", [], id="a selector is one's own"),
        pytest.param("get -A ", ["deployments", "nodes", "pods"], id="a kind behind a flag without a value"),
        pytest.param("logs web-1 -c ", ["web-1-main", "web-1-side"], id="a Pod's containers"),
        pytest.param("logs pod/web-1 -n shop -c ", ["shopweb-1-main", "shopweb-1-side"], id="of a namespace"),
        pytest.param("xray dep", ["deployments"], id="a kind for the tree"),
        pytest.param("xray pods s", ["shop"], id="a namespace for the tree"),
        pytest.param("trac", ["trace"], id="a command of ktui's own"),
        pytest.param("store com", ["compact"], id="its words"),
        pytest.param("ktui store member sl", ["slow"], id="and theirs"),
        pytest.param("store compact --ph", ["--physical"], id="its flags"),
        pytest.param("trace dep", ["deployments/"], id="a kind that an object follows"),
        pytest.param("schedule pods/w", ["pods/web-1", "pods/web-2"], id="an object of ktui's own command"),
        pytest.param("fetch p", [], id="nothing behind a verb that is none"),
    ],
)
async def test_completions(text: str, found: list[str]) -> None:
    assert await ask(text) == found


def test_the_words_and_flags_of_ktui_s_own_commands_are_all_that_they_have() -> None:
    from ktui.application import app

    def walk(command: Any, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        for name, child in getattr(command, "commands", {}).items():
            if not child.hidden and (path or name in own_commands.NAMES):
                shown = [option for one in child.params if not getattr(one, "hidden", False) for option in one.opts]
                flags = {each for each in shown if each.startswith("--")} - {"--name", "--help"}
                yield f"{path} {name}".strip(), tuple(sorted(flags))
                yield from walk(child, f"{path} {name}".strip())

    assert dict(walk(typer.main.get_command(app), "")) == own_commands.FLAGS


async def test_files_behind_f(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web.yaml").touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "db.yaml").touch()
    (tmp_path / ".hidden").touch()
    monkeypatch.chdir(tmp_path)
    assert await ask("apply -f ") == ["more/", "web.yaml"]
    assert await ask("apply -f more/") == ["more/db.yaml"]
    assert files(f"{tmp_path}/w") == [f"{tmp_path}/more/", f"{tmp_path}/web.yaml"]
    assert files("nowhere/") == []


def test_what_words_have_in_common() -> None:
    assert [common(words) for words in (["web-1", "web-2"], ["a"], ["a", "b"], ["web", "web-1"])] == [
        "web-", "a", "", "web",
    ]  # fmt: skip
