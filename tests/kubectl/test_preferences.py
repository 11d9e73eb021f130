"""The kuberc file: aliases, other defaults for flags, and what is refused, in the words of the real kubectl."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubectl.oracle import ours, real
from tests.kubectl.served import served

GOOD = Path(__file__).parent / "manifests" / "kuberc" / "good.yaml"
HEAD = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n"
START = "error occurred while applying preferences "

REFUSED = {
    "no preferences": (
        "foo",
        "get svc",
        "kuberc error kuberc: no valid preferences found in FILE, use --v=5 to see details",
    ),
    "a flag with dashes": (
        HEAD + "defaults: [{command: get, options: [{name: --output, default: name}]}]",
        "get svc",
        "flag name --output should be in long form without dashes",
    ),
    "a flag that the command lacks": (
        HEAD + "defaults: [{command: get, options: [{name: nope, default: x}]}]",
        "get svc",
        "invalid flag nope for command get",
    ),
    "an alias with a dash": (
        HEAD + "aliases: [{name: get-n, command: get}]",
        "get svc",
        "invalid alias name, can only include alphabetical characters",
    ),
    "two aliases of a name": (
        HEAD + "aliases: [{name: a, command: get}, {name: a, command: describe}]",
        "get svc",
        "duplicate alias name a",
    ),
    "an alias of no command": (
        HEAD + "aliases: [{name: ax, command: nope}]",
        "ax svc",
        'command "nope" not found to set alias "ax": [nope]',
    ),
    "an unknown policy": (HEAD + "credentialPluginPolicy: Foo", "get svc", 'unknown plugin policy: "Foo"'),
}


@pytest.mark.parametrize(("content", "argv", "why"), REFUSED.values(), ids=REFUSED)
async def test_preferences_that_are_refused(content: str, argv: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "kuberc"
    file.write_text(content)
    printed = await ours(f"{argv} --kuberc {file}")
    assert printed == (1, "", f"{START}{why.replace('FILE', str(file))}\n")


async def test_an_alias_stands_for_a_command_with_flags_and_words(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        told = await ours(f"runx foo --kuberc {GOOD}", kubeconfig=server.kubeconfig)
        named = await ours(f"runx foo -o name --kuberc={GOOD}", kubeconfig=server.kubeconfig)
    assert told.stdout == "pod/foo created (dry run)\n"
    assert named.stdout == "pod/foo\n"


async def test_a_default_holds_where_the_flag_is_not_given() -> None:
    made = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: foo\n"
    words = f"create configmap foo --from-literal=a=b --kuberc {GOOD}"
    assert (await ours(words)).stdout == made
    assert (await ours(f"{words} -o name")).stdout == "configmap/foo\n"


async def test_the_file_of_the_home_is_read_unless_it_is_turned_off(tmp_path: Path) -> None:
    home = tmp_path / ".kube"
    home.mkdir()
    (home / "kuberc").write_bytes(GOOD.read_bytes())
    environment = {"HOME": str(tmp_path)}
    async with served(tmp_path) as server:
        assert (await ours("runx foo", environment=environment, kubeconfig=server.kubeconfig)).code == 0
    for off in ({"KUBERC": "off"}, {"KUBECTL_KUBERC": "false"}):
        assert 'unknown command "runx"' in (await ours("runx foo", environment={**environment, **off})).stderr


async def test_preferences_are_set_and_shown(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    words = "kuberc set --section aliases --name gn --command get --prependarg nodes --option=--output=wide"
    assert (await ours(words, environment=environment)).code == 0
    again = await ours(words, environment=environment)
    assert again.stderr == 'error: alias "gn" already exists, use --overwrite to replace\n'
    shown = await ours("kuberc view", environment=environment)
    assert shown.stdout == (
        "aliases:\n- command: get\n  name: gn\n  options:\n  - default: wide\n    name: output\n"
        "  prependArgs:\n  - nodes\n"
        "apiVersion: kubectl.config.k8s.io/v1beta1\ndefaults: []\nkind: Preference\n"
    )


async def test_preferences_that_there_are_not_are_offered(tmp_path: Path) -> None:
    """The same files and words as by the real kubectl, each in a home of its own."""
    told: list[list[str]] = []
    for who in (real, ours):
        home = tmp_path / who.__name__
        home.mkdir()
        environment = {"HOME": str(home)}
        steps = [("kuberc view", ""), ("kuberc view", "y\n"), ("kuberc view", ""), ("kuberc view -o json", "")]
        steps += [(f"kuberc view --kuberc={home}/nope", "y\n")]
        steps += [("kuberc set --section=credentialplugin --policy=DenyAll", "")]
        printed = [await who(argv, stdin=stdin, environment=environment) for argv, stdin in steps]
        file = (home / ".kube" / "kuberc").read_text()
        (home / ".kube" / "kuberc").unlink()
        printed.append(await who("kuberc set --section=aliases --name=x --command=get", environment=environment))
        new = (home / ".kube" / "kuberc").read_text()
        told.append([str(each).replace(str(home), "HOME") for each in (*printed, file, new)])
    assert told[0] == told[1]
