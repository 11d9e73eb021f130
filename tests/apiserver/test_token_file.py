"""Tokens that stand in a file (apiserver pkg/authentication/token/tokenfile tokenfile_test.go)."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.types import GVR
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN

FILE = """
token1,user1,uid1
token2,user2,uid2
token3,user3,uid3,"group1,group2"
token4,user4,uid4,"group2"
token5,user5,uid5,group5
token6,user6,uid6,group5,otherdata
token7,user7,uid7,"group1,group2",otherdata

,user8,uid8
token2,another,uid9
"""
USERS = {
    "token1": ("user1", "uid1", []),
    "token2": ("another", "uid9", []),
    "token3": ("user3", "uid3", ["group1", "group2"]),
    "token4": ("user4", "uid4", ["group2"]),
    "token5": ("user5", "uid5", ["group5"]),
    "token6": ("user6", "uid6", ["group5"]),
    "token7": ("user7", "uid7", ["group1", "group2"]),
    "token8": None,
    "": None,
}


async def test_who_shows_a_token(world: World, store: SqliteStore, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(FILE)
    config = configure(UpOptions(token_auth_file=str(file), ephemeral=True))
    server = ApiServer(world, store, config=ClusterConfig(token_auth_file=config.token_auth_file))
    await server.start()
    admin = Client(InProcessTransport(server, ADMIN), user_agent="test")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for token, wanted in USERS.items():
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        answer = await server.handle(Request("POST", path, {}, headers, review))
        if wanted is None:
            assert answer.status == (401 if token else 403), token  # nobody shows what is no token
            continue
        name, uid, groups = wanted
        user = {"username": name, "uid": uid, "groups": [*groups, "system:authenticated"]}
        assert answer.body["status"]["userInfo"] == user
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        told = await admin.create(GVR("authentication.k8s.io", "v1", "tokenreviews"), asked)
        assert (told["status"]["authenticated"], told["status"]["user"]) == (True, user)
    await server.stop()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("token1,user1\n", "token file '{}' must have at least 3 columns (token, user name, user uid), found 2"),
        ('token1,user1,uid1,"group\n', "{}: unexpected end of data"),
        (None, "open {}: no such file or directory"),
    ],
)
def test_what_is_no_file_of_tokens(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "tokens"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(token_auth_file=str(file)))
    assert str(caught.value) == f"--token-auth-file: {why.format(file)}"
