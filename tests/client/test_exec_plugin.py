"""Exec credential plugins: what they are told, what they may print, how long it is kept (client-go exec_test.go)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.client.connection import ExecPlugin, KubeConfigError
from engine.client.exec_plugin import Authenticator, Credential, credential
from engine.client.plugin_policy import policy_problem
from engine.clock import Clock
from tests.client.certificates import Authority

V1 = "client.authentication.k8s.io/v1"
Write = Callable[[str], ExecPlugin]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """A plugin of a shell script."""

    def write(script: str) -> ExecPlugin:
        file = tmp_path / "plugin"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return ExecPlugin(str(file))

    return write


def _prints(text: str) -> str:
    return f"cat <<'END'\n{text}\nEND"


def _status(status: str, version: str = V1) -> str:
    return f'{{"kind": "ExecCredential", "apiVersion": "{version}", "status": {status}}}'


REGISTERED = 'decoding stdout: no kind "{}" is registered for version "{}" in scheme "pkg/client/auth/exec/exec.go:64"'
OTHER = f"exec plugin is configured to use API version {V1}, plugin returned version "
REFUSED = {
    "nothing": ("", OTHER + "client.authentication.k8s.io/__internal"),
    "no version": ('{"kind": "ExecCredential"}', OTHER + "client.authentication.k8s.io/__internal"),
    "another version": (_status("{}", f"{V1}beta1"), f"{OTHER}{V1}beta1"),
    "an old version": (_status("{}", f"{V1}alpha1"), REGISTERED.format("ExecCredential", f"{V1}alpha1")),
    "another kind": ('{"kind": "Pod", "apiVersion": "v1"}', REGISTERED.format("Pod", "v1")),
    "no object": ("hello", "decoding stdout: couldn't get version/kind; json parse error: "
                  'json: cannot unmarshal string into Go value of type '
                  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
                  'Kind string "json:\\"kind,omitempty\\"" }'),
    "no status": (_status("null"), "exec plugin didn't return a status field"),
    "an empty status": (_status("{}"), "exec plugin didn't return a token or cert/key pair"),
    "half a pair": (_status('{"token": "t", "clientKeyData": "k"}'),
                    "exec plugin returned only certificate or key, not both"),
    "no pair": (_status('{"clientCertificateData": "a", "clientKeyData": "b"}'),
                "failed parsing client key/certificate: tls: failed to find any PEM data in certificate input"),
    "a token that is a number": (_status('{"token": 5}'), "decoding stdout: json: cannot unmarshal number "
                                 "into Go struct field ExecCredentialStatus.status.token of type string"),
    "no time": (_status('{"token": "t", "expirationTimestamp": "tomorrow"}'), 'decoding stdout: parsing time '
                '"tomorrow" as "2006-01-02T15:04:05Z07:00": cannot parse "tomorrow" as "2006"'),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_what_a_plugin_prints_that_is_no_credential(name: str, written: Write) -> None:
    text, why = REFUSED[name]
    with pytest.raises(KubeConfigError) as raised:
        await credential(written(_prints(text)))
    assert str(raised.value) == why


async def test_a_plugin_that_fails(written: Write, tmp_path: Path) -> None:
    plugin = written("exit 73")
    for changed, why in (
        (plugin, f"exec: executable {plugin.command} failed with exit code 73"),
        (replace(plugin, command=f"{tmp_path}/nope"), f"exec: fork/exec {tmp_path}/nope: no such file or directory"),
        (replace(plugin, command=str(tmp_path)), f"exec: fork/exec {tmp_path}: permission denied"),
        (replace(plugin, command="nope", install_hint="do this"), "exec: executable nope not found"),
        (replace(plugin, interactive_mode="Always"),
         "exec plugin cannot support interactive mode: standard input is not a terminal"),
    ):  # fmt: skip
        with pytest.raises(KubeConfigError) as raised:
            await credential(changed)
        assert str(raised.value).splitlines()[0] == why
        assert str(raised.value).endswith("\n\ndo this") == bool(changed.install_hint)


async def test_what_a_plugin_is_told(written: Write) -> None:
    plugin = written(
        'printf \'{"apiVersion": "%s", "status": {"token": "%s %s %s"}}\' '
        f'{V1} "$1" "$N" "$(echo "$KUBERNETES_EXEC_INFO" | base64 -w0)"'
    )
    given = await credential(
        replace(plugin, args=("a",), env=(("N", "n"),), cluster={"server": "https://k", "config": None})
    )
    first, name, told = given.token.split()
    assert (first, name) == ("a", "n")
    assert base64.b64decode(told).decode() == (
        f'{{"kind":"ExecCredential","apiVersion":"{V1}","spec":'
        '{"cluster":{"server":"https://k","config":null},"interactive":false}}\n\n'
    )


async def test_a_pair(written: Write) -> None:
    pair = Authority().issue("me")
    status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
    assert await credential(written(_prints(_status(json.dumps(status))))) == Credential("", *pair)


async def test_a_credential_is_kept_until_it_expires_or_is_refused(written: Write, tmp_path: Path) -> None:
    counting = f"echo x >>{tmp_path}/runs\nN=$(wc -l <{tmp_path}/runs)\n"
    answer = 'printf \'{"apiVersion": "%s", "status": {"token": "%s", "expirationTimestamp": "%s"}}\' ' + V1
    kept = Authenticator(written(f"{counting}{answer} $N 2999-01-01T00:00:00Z"), Clock())
    first = await kept.credential()
    assert (first.token, (await kept.credential()).token) == ("1", "1")
    await kept.rotate(first)
    await kept.rotate(first)  # somebody was quicker
    assert (await kept.credential()).token == "2"
    old = Authenticator(written(f"{counting}{answer} $N 2006-01-02T15:04:05Z"), Clock())
    assert [(await old.credential()).token for _ in range(2)] == ["3", "4"]


def test_a_version_that_is_not_spoken() -> None:
    with pytest.raises(KubeConfigError, match=f'^exec plugin: invalid apiVersion "{V1}alpha1"$'):
        Authenticator(ExecPlugin("x", api_version=f"{V1}alpha1"), Clock())


# -- which may run

NOT_PERMITTED = "is not permitted by the credential plugin allowlist"


async def test_a_policy_is_asked_before_a_plugin_runs(written: Write, tmp_path: Path) -> None:
    plugin = written(_prints(_status('{"token": "t"}')))
    for policy, allowed, why in (
        ("AllowAll", (), ""),
        ("DenyAll", (), f'plugin "{plugin.command}" not allowed: policy set to "DenyAll"'),
        ("Allowlist", ("/x", plugin.command), ""),
        ("Allowlist", ("plugin",), f'plugin path "{plugin.command}" {NOT_PERMITTED}'),
    ):
        asked = replace(plugin, policy=policy, allowed=allowed)
        if not why:
            assert (await credential(asked)).token == "t"
            continue
        with pytest.raises(KubeConfigError) as raised:
            await credential(asked)
        assert str(raised.value) == why


POLICIES: dict[str, tuple[str, tuple[str, ...] | None, str]] = {
    "none": ("", None, ""),
    "a list": ("Allowlist", ("a", "/b/c"), ""),
    "unknown": ("Foo", None, 'unknown plugin policy: "Foo"'),
    "no list": ("Allowlist", None, 'credential plugin policy set to "Allowlist", but allowlist is unspecified'),
    "an empty list": ("Allowlist", (), 'credential plugin policy set to "Allowlist", but allowlist is empty; '
                      'use "DenyAll" policy instead'),
    "a list for nothing": ("DenyAll", ("a",), "misconfigured credential plugin allowlist: "
                           'plugin policy is "DenyAll" but allowlist is non-nil'),
    "an empty entry": ("Allowlist", ("a", ""), "misconfigured credential plugin allowlist: empty allowlist entry #2"),
    "an odd path": ("Allowlist", ("./a",), 'non-normalized file path: "./a" vs "a"'),
}  # fmt: skip


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_cannot_be_gone_by(name: str) -> None:
    policy, allowed, why = POLICIES[name]
    assert policy_problem(policy, allowed) == why
