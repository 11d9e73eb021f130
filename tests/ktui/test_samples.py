"""What one can create something from: every sample is valid, says what it shows, and does it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.api.types import PODS
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.kubectl.main import run
from ktui.assets import asset_folder
from ktui.models.samples import samples_in, with_samples

SAMPLES = samples_in(asset_folder("samples"))
PENDING = {"giant": "Unschedulable"}
WAITING = {"crasher": "CrashLoopBackOff", "typo": "ImagePullBackOff"}


def test_each_says_what_it_shows_in_its_first_line_and_the_readme_says_the_same() -> None:
    text = (Path(asset_folder("samples")) / "README.md").read_text()
    rows = [f"| `{sample.name}` | {sample.about} |" for sample in SAMPLES]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows
    assert SAMPLES[0].name == "web"
    assert all(10 < len(sample.about) <= 82 for sample in SAMPLES)


async def test_all_can_be_applied_and_come_to_what_they_show(virtual_clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1), clock=virtual_clock) as cluster:
        client = cluster.client(user_agent="kubectl/v1.37.1")
        for sample in sorted(SAMPLES, key=lambda sample: sample.name):  # the definition before its object
            out, err = io.StringIO(), io.StringIO()
            name = "crd" if sample.name == "crd-object" else ""
            assert not name or any(other.name == name for other in SAMPLES)
            argv = ("apply", "--validate=strict", "-f", str(sample.path))
            code = await run(argv, client=client, stdout=out, stderr=err, clock=virtual_clock)
            assert (code, err.getvalue()) == (0, ""), sample.name
        await virtual_clock.sleep(130)
        pods = (await client.list(PODS)).items
        assert len([pod for pod in pods if pod["metadata"]["namespace"] == "small"]) == 2
        assert len([pod for pod in pods if pod["metadata"]["name"].startswith("busy-")]) == 5
        for pod in pods:
            name, status = pod["metadata"]["name"], pod["status"]
            reasons = {
                container["state"]["waiting"]["reason"]
                for container in status.get("containerStatuses") or ()
                if "waiting" in container["state"]
            }
            start = name.partition("-")[0]
            if start in PENDING:
                assert status["conditions"][0]["reason"] == PENDING[start]
            elif start in WAITING:
                assert reasons == {WAITING[start]}, name
            elif start == "parts":
                assert status["phase"] in ("Succeeded", "Failed")
            else:
                assert status["phase"] in ("Running", "Succeeded"), name


WORDS = {
    "a file": (["apply", "-f", "samples/web.yaml"], ["apply", "-f", "KEPT/web.yaml"]),
    "a flag's value": (["apply", "--filename=samples/web.yaml"], ["apply", "--filename=KEPT/web.yaml"]),
    "no sample of that name": (["apply", "-f", "samples/none.yaml"], ["apply", "-f", "samples/none.yaml"]),
    "another folder": (["apply", "-f", "web.yaml"], ["apply", "-f", "web.yaml"]),
    "a name that looks like one": (["get", "pods", "-l", "a=samples"], ["get", "pods", "-l", "a=samples"]),
}


@pytest.mark.parametrize(("typed", "done"), WORDS.values(), ids=WORDS)
def test_what_the_screen_advises_to_type_works_in_any_folder(
    typed: Sequence[str], done: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = asset_folder("samples")
    assert with_samples(typed, kept) == tuple(word.replace("KEPT", str(kept)) for word in done)


def test_a_sample_of_this_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "web.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert with_samples(["-f", "samples/web.yaml"], asset_folder("samples")) == ("-f", "samples/web.yaml")
