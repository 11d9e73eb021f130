"""Image references, sizes and the node's image store."""

from __future__ import annotations

import pytest

from engine.kubelet.cri import CriError
from engine.kubelet.runtime.catalog import profile_of
from engine.kubelet.runtime.images import ImageStore
from engine.kubelet.runtime.reference import InvalidReferenceError, parse_reference
from engine.world import World


@pytest.mark.parametrize(
    ("image", "full", "familiar"),
    [
        pytest.param("nginx", "docker.io/library/nginx:latest", "nginx", id="short"),
        pytest.param("nginx:1.27", "docker.io/library/nginx:1.27", "nginx", id="tag"),
        pytest.param("bitnami/redis:7", "docker.io/bitnami/redis:7", "bitnami/redis", id="user"),
        pytest.param("ghcr.io/a/b", "ghcr.io/a/b:latest", "ghcr.io/a/b", id="registry"),
        pytest.param("localhost:5000/a:1", "localhost:5000/a:1", "localhost:5000/a", id="port"),
        pytest.param(f"a@sha256:{'0' * 64}", f"docker.io/library/a@sha256:{'0' * 64}", "a", id="digest"),
    ],
)
def test_references_are_completed_as_docker_does(image: str, full: str, familiar: str) -> None:
    reference = parse_reference(image)

    assert (reference.full, reference.familiar) == (full, familiar)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        pytest.param("Nginx", r"repository name \(library/Nginx\) must be lowercase", id="upper case"),
        pytest.param("nginx:", "invalid reference format", id="empty tag"),
        pytest.param("a b", "invalid reference format", id="blank"),
        pytest.param("a@sha256:12", "invalid reference format", id="short digest"),
    ],
)
def test_bad_references_are_refused(image: str, message: str) -> None:
    with pytest.raises(InvalidReferenceError, match=message):
        parse_reference(image)


def test_sizes_are_those_of_the_catalogue_or_made_up_from_the_name() -> None:
    nginx, alpine = profile_of(parse_reference("nginx:1.27")), profile_of(parse_reference("nginx:1.27-alpine"))
    other = profile_of(parse_reference("example.com/team/app:v1"))

    assert (nginx.size, nginx.simulated) == (72_000_000, False)
    assert alpine.size < nginx.size / 3
    assert alpine.busybox
    assert other.simulated
    assert other == profile_of(parse_reference("example.com/team/app:v1"))
    assert 8_000_000 <= other.size <= 401_000_000


@pytest.mark.parametrize(
    ("image", "text"),
    [
        pytest.param(
            "nginx:missing",
            'rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nginx:missing": '
            "failed to resolve image: docker.io/library/nginx:missing: not found",
            id="tag",
        ),
        pytest.param(
            "missing",
            'rpc error: code = Unknown desc = failed to pull and unpack image "docker.io/library/missing:latest": '
            "failed to resolve image: pull access denied, repository does not exist or may require authorization: "
            "server message: insufficient_scope: authorization failed",
            id="repository",
        ),
    ],
)
async def test_what_is_missing_cannot_be_pulled(world: World, image: str, text: str) -> None:
    store = ImageStore(world.clock, world.latency)

    with pytest.raises(CriError) as failure:
        await store.pull_image(image)

    assert str(failure.value) == text
    assert store.list_images() == []


@pytest.mark.parametrize(
    "image",
    [
        "webserver:404",
        "foo:non-existent",
        "does-not-exist",
        "non-existing-repo/non-existing-image:example",
        "nginx:1.161",
        "gcr.io/google-samples/kubernetes-bootcamp:v10",
    ],
)
async def test_what_upstream_names_for_a_failing_pull_fails(world: World, image: str) -> None:
    with pytest.raises(CriError):
        await ImageStore(world.clock, world.latency).pull_image(image)


async def test_a_pull_takes_the_time_of_its_bytes_and_the_next_one_none(world: World) -> None:
    slow = World.create(clock=world.clock, seed=1, latencies={"image-pull": (500, 500), "image-pull-mib": (10, 10)})
    store = ImageStore(slow.clock, slow.latency)

    await store.pull_image("busybox:1.36")
    first = slow.clock.monotonic()
    await store.pull_image("busybox:1.36")

    assert first == pytest.approx(0.5 + 2_200_000 / 2**20 * 0.01)
    assert slow.clock.monotonic() - first == pytest.approx(0.5)
    assert store.image_status("docker.io/library/busybox:1.36") == store.list_images()[0]
