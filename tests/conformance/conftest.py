"""One served cluster for all tests of this folder, each in a namespace of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.engine_process import Home, Ran

Kubectl = Callable[..., Ran]
_number = count(1)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    home = Home(tmp_path_factory.mktemp("ktui"))
    home.up("--ephemeral", "--seed=1")
    yield home
    home.stop()


@pytest.fixture
def namespace(home: Home, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace named after the test, gone afterwards."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower().removeprefix("test_")).strip("-")
    name = f"{words[:45].strip('-')}-{next(_number)}"
    home.kubectl("create", "namespace", name).ok()
    yield name
    home.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def kubectl(home: Home, namespace: str) -> Kubectl:
    """The real kubectl, working in the test's namespace unless told otherwise."""

    def run(*words: str, stdin: str = "", env: dict[str, str] | None = None) -> Ran:
        return home.kubectl("--namespace", namespace, *words, stdin=stdin, env=env)

    return run


@pytest.fixture
def web(kubectl: Kubectl) -> Path:
    """samples/web.yaml, applied and rolled out."""
    from tests.engine_process import SAMPLES

    file = SAMPLES / "web.yaml"
    kubectl("apply", "-f", str(file)).ok()
    kubectl("rollout", "status", "deployment/web", "--timeout=30s").ok()
    return file
