"""Kubeconfig files: merging, contexts, data and files, and writing."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import pytest
import yaml

from engine.client.connection import Connection, KubeConfigError, Overrides
from engine.client.kubeconfig import KubeConfig, document_for, write

FIRST = """
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://one:6443/", certificate-authority: ca.pem}}
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: team}}
users:
- {name: u1, user: {token: t1}}
"""
SECOND = """
current-context: two
clusters:
- {name: c1, cluster: {server: "https://shadowed:1"}}
- {name: c2, cluster: {server: "https://two:6443", insecure-skip-tls-verify: true}}
contexts:
- {name: two, context: {cluster: c2, user: u2}}
users:
- {name: u2, user: {tokenFile: token}}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "a" / "config", tmp_path / "b" / "config"
    for path, text in ((first, FIRST), (second, SECOND)):
        path.parent.mkdir()
        path.write_text(text)
    (tmp_path / "a" / "ca.pem").write_bytes(b"CA")
    (tmp_path / "b" / "token").write_text("t2\n")
    return first, second


def _merged(files: tuple[Path, Path]) -> KubeConfig:
    return KubeConfig.load(environment={"KUBECONFIG": os.pathsep.join(["/nowhere", *map(str, files)])})


def test_the_first_file_to_set_a_value_wins(files: tuple[Path, Path]) -> None:
    config = _merged(files)
    assert config.current_context == "one"
    assert sorted(config.clusters) == ["c1", "c2"]
    assert config.connection() == Connection(
        server="https://one:6443/", namespace="team", ca=b"CA", token="t1", reloads=True
    )


def test_files_are_relative_to_the_kubeconfig_that_names_them(files: tuple[Path, Path]) -> None:
    connection = _merged(files).connection(Overrides(context="two"))
    assert (connection.server, connection.token, connection.insecure) == ("https://two:6443", "t2\n", True)
    assert connection.token_file == files[1].parent / "token"
    assert connection.namespace == "default"


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        pytest.param(Overrides(context="x"), 'context "x" does not exist', id="unknown context"),
        pytest.param(Overrides(cluster="x"), 'cluster "x" does not exist', id="unknown cluster"),
        pytest.param(Overrides(user="x"), 'auth info "x" does not exist', id="unknown user"),
    ],
)
def test_what_is_not_there_is_named(files: tuple[Path, Path], overrides: Overrides, text: str) -> None:
    with pytest.raises(KubeConfigError) as raised:
        _merged(files).connection(overrides)
    assert str(raised.value) == text


def test_flags_come_before_the_file(files: tuple[Path, Path]) -> None:
    connection = _merged(files).connection(Overrides(server="https://flag:1", token="t3", namespace="n"))
    assert (connection.server, connection.token, connection.namespace) == ("https://flag:1", "t3", "n")


def test_without_any_file_the_server_is_on_localhost(tmp_path: Path) -> None:
    config = KubeConfig.load(environment={"HOME": str(tmp_path)})
    assert config.connection() == Connection(server="http://localhost:8080")


def test_a_named_file_must_exist() -> None:
    with pytest.raises(KubeConfigError, match=r"^stat /nowhere/config: no such file or directory$"):
        KubeConfig.load("/nowhere/config")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a: b: c\n")
    with pytest.raises(KubeConfigError, match=r'error loading config file ".*config": yaml: mapping values are not'):
        KubeConfig.load(tmp_path / "config")


def test_what_is_written_reads_back_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    write(path, document_for(name="ktui", server="https://127.0.0.1:6443", ca=b"CA", certificate=b"CERT", key=b"KEY"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KubeConfig.load(path).connection() == Connection(
        server="https://127.0.0.1:6443", ca=b"CA", certificate=b"CERT", key=b"KEY"
    )
    data = yaml.safe_load(path.read_text())["users"][0]["user"]["client-key-data"]
    assert base64.b64decode(data) == b"KEY"


def test_use_context_edits_the_file_that_holds_the_current_one(files: tuple[Path, Path]) -> None:
    config = _merged(files)
    assert config.use_context("two") == files[0]
    assert _merged(files).current_context == "two"
    with pytest.raises(KubeConfigError, match='no context exists with the name: "three"'):
        config.use_context("three")
