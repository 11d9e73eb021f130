"""What `--help` says of a command's words and flags, beside the real kubectl; its sentences are our own."""

from __future__ import annotations

import re

import pytest

from tests.kubectl.oracle import ours, real

_FLAG = re.compile(r"^    ((?:-\w, )?--[\w-]+=\S*):$", re.MULTILINE)
_USAGE = re.compile(r"^Usage:\n  (.*)$", re.MULTILINE)


def _form(text: str) -> tuple[list[str], list[str]]:
    return _USAGE.findall(text), _FLAG.findall(text)


@pytest.mark.parametrize(
    "words",
    [
        "create deployment",
        "create secret docker-registry",
        "autoscale",
        "port-forward",
        "rollout undo",
        "wait",
        "scale",
    ],
)
async def test_a_command_has_the_words_and_the_flags_of_kubectls(words: str) -> None:
    theirs, mine = await real(f"{words} --help"), await ours(f"{words} --help")
    assert _form(mine.stdout) == _form(theirs.stdout)
    assert _form(mine.stdout)[0]


@pytest.mark.parametrize(
    "group", ["apply", "auth", "certificate", "config", "create", "kuberc", "plugin", "rollout", "set", "top"]
)
async def test_a_group_lists_its_commands_in_kubectls_order(group: str) -> None:
    theirs, mine = await real(f"{group} --help"), await ours(f"{group} --help")
    assert _listed(mine.stdout) == _listed(theirs.stdout) != []


def _listed(text: str) -> list[str]:
    rows = text.partition("Available Commands:\n")[2].partition("\n\n")[0]
    return [row.split()[0] for row in rows.splitlines()]


@pytest.mark.parametrize(
    "words",
    ["use-context", "set-context a b", "set-cluster", "set-credentials u --exec-env=bad", "rename-context a", "unset",
     "set a"],
)  # fmt: skip
async def test_wrong_words_for_config_show_the_commands_help_as_kubectl_does(words: str) -> None:
    command = words.split()[0]
    theirs, mine = await real(f"config {words}"), await ours(f"config {words}")
    assert theirs.stdout == (await real(f"config {command} --help")).stdout
    assert mine.stdout == (await ours(f"config {command} --help")).stdout
    assert (mine.code, mine.stderr) == (theirs.code, theirs.stderr)
