"""How a command comes to its server: rows checked beside the real kubectl (config_flags.go, auth_loaders.go)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubectl.oracle import Printed, ours

CONFIG = """
current-context: c
clusters:
- {name: k, cluster: {server: "https://127.0.0.1:1"}}
- {name: bad, cluster: {server: "https://127.0.0.1:1", certificate-authority: /nope}}
contexts:
- {name: c, context: {cluster: k, user: u}}
- {name: nobody, context: {cluster: k}}
- {name: bad, context: {cluster: bad, user: both}}
users:
- {name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: nope, interactiveMode: Never}}}
- {name: both, user: {token: t, username: a}}
"""
ALLOWED = """
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
credentialPluginPolicy: {}
"""
NO_CONTEXT = "context was not found for specified context: x"
TWO = (
    "more than one authentication method found for both; found [token basicAuth], only one is allowed",
    "unable to read certificate-authority /nope for bad due to open /nope: no such file or directory",
)
NOT_ALLOWED = (
    'Unable to connect to the server: getting credentials: plugin "nope" not allowed: policy set to "DenyAll"\n'
)
NO_PLUGINS = (
    'Unable to read directory "/nonexistent" from your PATH: open /nonexistent: no such file or directory. '
    "Skipping...\nerror: unable to find any kubectl plugins in your PATH\n"
)

ROWS: dict[str, tuple[str, Printed]] = {
    "a context that is not there": ("get --raw / --context=x", Printed(1, "", 'error: context "x" does not exist\n')),
    "the same where a namespace is needed": (
        "get pods --context=x", Printed(1, "", f"Error in configuration: {NO_CONTEXT}\n")),
    "and where it is given": ("get pods --context=x -n a", Printed(1, "", 'error: context "x" does not exist\n')),
    "a cluster that is not there": ("get pods --cluster=x", Printed(1, "", 'error: no server found for cluster "x"\n')),
    "two that are not there": (
        "get pods --cluster=x --context=x",
        Printed(1, "", f'Error in configuration: \n* {NO_CONTEXT}\n* no server found for cluster "x"\n'),
    ),
    "one problem": (
        "get pods --cluster=k --user=both", Printed(1, "", f"error: {TWO[0]}\n")),
    "two problems": (
        "get pods --context=bad", Printed(1, "", "Error in configuration: \n* {}\n* {}\n".format(*TWO))),
    "nobody": ("get pods --context=nobody", Printed(1, "Please enter Username: ", "error: EOF\n")),
    "no server needed": ("plugin list --context=x", Printed(1, "", NO_PLUGINS)),
    "a plugin that may not run": ("get --raw / --kuberc=KUBERC", Printed(1, "", NOT_ALLOWED)),
    "a policy that is none": (
        "get --raw / --kuberc=UNKNOWN",
        Printed(1, "", 'error occurred while applying preferences unknown plugin policy: "Foo"\n'),
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config").write_text(CONFIG)
    for name, policy in (("KUBERC", "DenyAll"), ("UNKNOWN", "Foo")):
        (tmp_path / name).write_text(ALLOWED.format(policy))
    return tmp_path


async def _ours(argv: str, folder: Path, *, stdin: str = "") -> Printed:
    for name in ("KUBERC", "UNKNOWN"):
        argv = argv.replace(name, str(folder / name))
    return await ours(argv, kubeconfig=str(folder / "config"), stdin=stdin, environment={"PATH": "/nonexistent"})


@pytest.mark.parametrize("name", ROWS)
async def test_before_anything_is_asked(name: str, folder: Path) -> None:
    argv, printed = ROWS[name]
    assert await _ours(argv, folder) == printed


async def test_a_plugin_that_is_not_installed(folder: Path) -> None:
    printed = await _ours("get pods", folder)
    first, _, hint, *_ = printed.stderr.splitlines()
    assert first == "Unable to connect to the server: getting credentials: exec: executable nope not found"
    assert hint == "It looks like you are trying to use a client-go credential plugin that is not installed."


async def test_a_password_is_read_from_a_terminal_only(folder: Path) -> None:
    printed = await _ours("get pods --context=nobody", folder, stdin="me\n")
    assert printed == Printed(
        1, "Please enter Username: Please enter Password: ", "error: error reading input for Password\n"
    )


async def test_files_that_cannot_be_read_are_told_each(folder: Path) -> None:
    (folder / "bad").write_text("a: [")
    (folder / "worse").write_text("clusters: 5")
    printed = await ours("get pods", kubeconfig=f"{folder}/bad:{folder}/config:{folder}/worse")
    assert printed.stderr.replace(str(folder), "FOLDER").splitlines() == [
        'error loading config file "FOLDER/bad": yaml: line 1: did not find expected node content',
        'error loading config file "FOLDER/worse": json: cannot unmarshal number into Go struct field Config.clusters '
        "of type []v1.NamedCluster",
    ]
