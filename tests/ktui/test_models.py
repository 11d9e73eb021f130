"""The small models: keys, words, the bar, the clock's speeds, cells of a line, colours."""

from __future__ import annotations

import pytest
from rich.style import Style

from ktui.models.keys import key_line, key_rows
from ktui.models.summary import ClusterSummary
from ktui.models.words import name_of, plural, resource_of, response_code
from ktui.steering import next_speed
from ktui.widgets.cluster_bar import ClusterBar
from ktui.widgets.ink import rich_colour
from ktui.widgets.line import Line, fit_middle
from ktui.widgets.syntax import yaml_text

KEY = {
    "key": "/registry/pods/default/web",
    "createRevision": 31,
    "modRevision": 40,
    "version": 3,
    "size": 5764,
    "lease": 0,
}


def test_keys_lose_their_root_and_the_newest_is_lit() -> None:
    (row,) = key_rows([KEY], newest=40)
    assert row.cells == ("pods/default/web", "31", "40", "3", "5.6 K", "")
    assert row.tone == "accent"
    assert key_rows([KEY], newest=41)[0].tone == "foreground"
    assert key_line({**KEY, "lease": 255}) == "create 31 · mod 40 · ver 3 · 5.6 K · lease ff"


@pytest.mark.parametrize(
    ("kind", "many"),
    [
        ("pod", "pods"),
        ("networkpolicy", "networkpolicies"),
        ("ingress", "ingresses"),
        ("endpoints", "endpoints"),
        ("gateway", "gateways"),
    ],
)
def test_plurals(kind: str, many: str) -> None:
    assert plural(kind) == many


def test_objects_in_words() -> None:
    assert (resource_of("deployment/default/web"), name_of("deployment/default/web")) == ("deployments", "web")
    assert (resource_of("/api"), name_of("/api")) == ("/api", "")
    assert name_of("node/node-1") == "node-1"


def test_response_codes() -> None:
    assert response_code("ok", "create") == "201"
    assert response_code("ok", "get") == "200"
    assert response_code("Forbidden", "get") == "403 Forbidden"
    assert response_code("Odd", "get") == "Odd"


def test_speeds_climb_a_ladder() -> None:
    assert [next_speed(1.0, 1), next_speed(1.0, -1), next_speed(3.0, 1), next_speed(3.0, -1)] == [2.0, 0.5, 5.0, 2.0]
    assert (next_speed(100.0, 1), next_speed(0.1, -1)) == (100.0, 0.1)


def test_the_bar_drops_what_matters_least_first() -> None:
    summary = ClusterSummary(name="default", revision=42, nodes=3, nodes_ready=3, profile="realistic")
    assert "realistic~" in ClusterBar.line(summary, 120, {}).plain
    short = ClusterBar.line(summary, 50, {}).plain
    assert "realistic~" not in short
    assert "rev 42" in short
    summary.state = "the engine has ended"
    assert "✖ the engine has ended" in ClusterBar.line(summary, 80, {}).plain


def members(*states: str) -> dict[str, object]:
    return {"members": [{"name": f"m{at}", "state": state} for at, state in enumerate(states, 1)]}


@pytest.mark.parametrize(
    ("details", "alarms", "told", "bar"),
    [
        pytest.param({}, [], members("leader"), "", id="one member"),
        pytest.param({}, [], members("leader", "follower", "follower"), "etcd 3/3 leader m1", id="a quorum"),
        pytest.param({}, [], members("stopped", "leader", "follower"), "etcd 2/3 leader m2", id="one stopped"),
        pytest.param({}, [], members("candidate", "stopped", "stopped"), "etcd 1/3 no leader", id="no quorum"),
        pytest.param({}, ["NOSPACE"], members("leader"), "✖ takes no writes: NOSPACE", id="an alarm"),
        pytest.param(
            {"refusing": "cannot write /x/store.db: the disk is full; writes go on once there is space"},
            [],
            members("leader"),
            "✖ takes no writes: the disk is full ",
            id="a full disk",
        ),
    ],
)
def test_the_bar_tells_of_the_store(
    details: dict[str, str], alarms: list[str], told: dict[str, object], bar: str
) -> None:
    summary = ClusterSummary(name="default", profile="realistic", nodes=3, nodes_ready=3)
    summary.take_store({"details": details, "alarms": alarms}, told)
    line = ClusterBar.line(summary, 140, {}).plain
    assert bar in line if bar else "etcd" not in line and "✖ takes" not in line


def test_a_line_s_later_words_cover_earlier_ones_and_wide_ones_take_two_cells() -> None:
    line = Line(8)
    line.put(0, "abcdefgh", Style())
    line.put(2, "日x", Style())
    line.put(6, "toolong", Style())
    assert line.strip(Style()).text == "ab日xft…"


def test_long_names_lose_their_middle() -> None:
    assert fit_middle("web-7d8d2f4c-x2k9p", 11) == "web-7…x2k9p"
    assert fit_middle("web", 11) == "web"


def test_colours_in_rich_s_words() -> None:
    assert [rich_colour(value) for value in ("#112233", "#112233cc", "ansi_bright_red", "auto 87%", "")] == [
        "#112233", "#112233", "bright_red", "default", "default",
    ]  # fmt: skip


def test_yaml_s_keys_stand_out() -> None:
    text = yaml_text("a: 1\nb:\n- c: x:y\n# no: key\n", {"primary": "red", "accent": "blue"})
    assert [text.plain[span.start : span.end] for span in text.spans if span.style == "red"] == ["a", "b", "c"]
    assert [text.plain[span.start : span.end] for span in text.spans if span.style == "blue"] == ["1", "- "]
