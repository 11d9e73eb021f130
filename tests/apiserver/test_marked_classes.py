"""Tables of storage classes over the API: one class alone is marked only if it is the default of all."""

from __future__ import annotations

from engine.api.types import GVR
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.world import World

CLASSES = GVR("storage.k8s.io", "v1", "storageclasses")
PATH = "/apis/storage.k8s.io/v1/storageclasses"
ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))


async def test_one_class_alone_is_marked_if_it_is_the_default_of_all(
    client: Client, server: ApiServer, world: World
) -> None:
    for name in ("standard", "fast"):
        annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
        metadata = {"name": name, "annotations": annotations}
        await client.create(CLASSES, {"metadata": metadata, "provisioner": "a.io/b"})
        await world.clock.sleep(2)
    accept = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    await client.list(CLASSES)  # as the controllers do
    shown = {}
    for path in (PATH, f"{PATH}/standard", f"{PATH}/fast"):
        request = Request("GET", path, headers=accept, certificate=ADMIN)
        answer = await server.handle(request)
        assert isinstance(answer.body, dict)
        shown[path.removeprefix(PATH)] = [row["cells"][0] for row in answer.body["rows"]]
    assert shown == {"": ["fast (default)", "standard"], "/standard": ["standard"], "/fast": ["fast (default)"]}
