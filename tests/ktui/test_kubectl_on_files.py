"""kubectl's words that work on files alone need no cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.commands.kubectl import run

KUSTOMIZATION = (
    "namePrefix: a-\nconfigMapGenerator: [{name: b, literals: [c=d], options: {disableNameSuffixHash: true}}]\n"
)


def test_a_kustomization_is_built_without_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KTUI_HOME", str(tmp_path / "none"))
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    assert run(["kustomize", str(tmp_path)], name="") == 0
    assert capsys.readouterr().out == "apiVersion: v1\ndata:\n  c: d\nkind: ConfigMap\nmetadata:\n  name: a-b\n"
