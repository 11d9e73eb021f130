"""Kustomizations build as the real kubectl builds them; what it says is kept beside each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubectl.kustomize.trees import Tree, normal, trees
from tests.kubectl.oracle import ours


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: tree.name)
async def test_a_kustomization_builds_as_kubectl_builds_it(tree: Tree, tmp_path: Path) -> None:
    printed = await ours(f"kustomize {tree.write(tmp_path)}")
    assert normal(printed.stdout, tmp_path) == tree.out
    assert normal(printed.stderr, tmp_path) == tree.err
