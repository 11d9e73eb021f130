"""Flags that every verb of kubectl takes may stand before it."""

from __future__ import annotations

import pytest

from ktui.commands.kubectl import verb_first

ROWS = {
    "a namespace": ("-n x get pods", "get -n x pods"),
    "a value behind a sign": ("--context=a get pods", "get --context=a pods"),
    "several": ("--as jane --token t create cm a", "create --as jane --token t cm a"),
    "a flag without value": ("--warnings-as-errors get pods", "get --warnings-as-errors pods"),
    "a command for a container": ("-n x exec p -- ls -n", "exec -n x p -- ls -n"),
    "none": ("get pods -n x", "get pods -n x"),
    "ktui's own": ("--screen flow", "--screen flow"),
    "nothing behind": ("-n x", "-n x"),
    "no verb": ("-n x frobnicate", "-n x frobnicate"),
}


@pytest.mark.parametrize(("typed", "done"), ROWS.values(), ids=ROWS)
def test_before_the_verb(typed: str, done: str) -> None:
    assert verb_first(typed.split()) == done.split()
