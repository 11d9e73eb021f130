"""Admission that is read from files (test/integration/apiserver admissionwebhook/static_manifest_test.go and
client_auth_test.go, cel/static_policy_test.go; the tables of plugin/manifest, {webhook,policy}/manifest/loader and
{webhook,policy}/config)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, SECRETS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.pki import ADMIN
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import config_map
from tests.apiserver.test_policies import GROUP
from tests.apiserver.test_webhooks import Hooks, hooks, patching

__all__ = ["hooks"]
VERSION = f"{GROUP}/v1"
CONFIG = "apiserver.config.k8s.io/v1"
PLUGINS = {
    "ValidatingAdmissionPolicy": "ValidatingAdmissionPolicyConfiguration",
    "MutatingAdmissionPolicy": "MutatingAdmissionPolicyConfiguration",
    "ValidatingAdmissionWebhook": "WebhookAdmissionConfiguration",
    "MutatingAdmissionWebhook": "WebhookAdmissionConfiguration",
}
CONFIG_MAPS: Object = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}


def configured(folder: Path, **parts: Object) -> Path:
    """A file that configures plugins."""
    plugins = [
        {"name": name, "configuration": {"apiVersion": CONFIG, "kind": PLUGINS[name], **part}}
        for name, part in parts.items()
    ]
    whole = {"apiVersion": CONFIG, "kind": "AdmissionConfiguration", "plugins": plugins}
    file = folder / "admission.yaml"
    file.write_text(yaml.safe_dump(whole))
    return file


def folders(root: Path) -> dict[str, Path]:
    """One for each plugin."""
    found = {name: root / name for name in PLUGINS}
    for folder in found.values():
        folder.mkdir()
    return found


def write(file: Path, *objects: Object) -> None:
    """As one that is replaced at once."""
    new = file.with_suffix(".new")
    new.write_text("\n---\n".join(yaml.safe_dump(each) for each in objects))
    new.rename(file)


def policy(name: str, *validations: Object, rule: Object = CONFIG_MAPS, **spec: Any) -> list[Object]:
    """With its binding."""
    made: Object = {"matchConstraints": {"resourceRules": [rule]}, "validations": list(validations), **spec}
    bound: Object = {"policyName": f"{name}.static.k8s.io", "validationActions": ["Deny"]}
    return [
        {"apiVersion": VERSION, "kind": f"ValidatingAdmissionPolicy{kind}", "metadata": {"name": f"{at}.static.k8s.io"},
         "spec": body}
        for kind, at, body in (("", name, made), ("Binding", f"{name}-binding", bound))
    ]  # fmt: skip


def mutation(label: str) -> list[Object]:
    applied = {"expression": f'Object{{metadata: Object.metadata{{labels: {{"{label}": "true"}}}}}}'}
    made: Object = {
        "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [CONFIG_MAPS]},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": applied}],
    }  # fmt: skip
    name = f"{label}.static.k8s.io"
    return [
        {"apiVersion": VERSION, "kind": f"MutatingAdmissionPolicy{kind}", "metadata": {"name": name}, "spec": body}
        for kind, body in (("", made), ("Binding", {"policyName": name}))
    ]


def webhook(kind: str, name: str, url: str, bundle: str, *rules: Object, **fields: Any) -> Object:
    hook = {
        "name": f"{name}.example.com", "clientConfig": {"url": url, "caBundle": bundle}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": list(rules or (CONFIG_MAPS,)), **fields,
    }  # fmt: skip
    metadata = {"name": f"{name}.static.k8s.io"}
    return {"apiVersion": VERSION, "kind": f"{kind}WebhookConfiguration", "metadata": metadata, "webhooks": [hook]}


@pytest.fixture
async def served(world: World, store: SqliteStore, tmp_path: Path) -> AsyncIterator[tuple[Client, dict[str, Path]]]:
    """A server of which each plugin has a folder, that of validating policies with a policy in it."""
    found = folders(tmp_path)
    named = {"expression": "!object.metadata.name.startsWith('no')", "message": "not so"}
    write(found["ValidatingAdmissionPolicy"] / "named.yaml", *policy("named", named))
    parts = {name: {"staticManifestsDir": str(folder)} for name, folder in found.items()}
    config = ClusterConfig(admission_control_config_file=configured(tmp_path, **parts))
    server = ApiServer(world, store, config=config)
    await server.start()
    yield Client(InProcessTransport(server, ADMIN), user_agent="test"), found
    await server.stop()


async def refused(client: Client, name: str) -> str:
    with pytest.raises(ApiError) as error:
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    return error.value.message


async def figures(client: Client) -> dict[tuple[str, str], float]:
    """How often which plugin's folder was read, and how."""
    lines = (await client.send("GET", "/metrics")).body.decode().splitlines()
    found = {}
    for line in lines:
        if line.startswith("apiserver_manifest_admission_config_controller_automatic_reloads_total{"):
            plugin, status = (line.partition(f'{label}="')[2].partition('"')[0] for label in ("plugin", "status"))
            found[plugin, status] = float(line.rpartition(" ")[2])
    return found


async def test_policies_hold_from_the_start_and_as_their_files_change(
    served: tuple[Client, dict[str, Path]],
) -> None:
    client, folder = served
    why = (
        "configmaps \"no\" is forbidden: ValidatingAdmissionPolicy 'named.static.k8s.io' with binding "
        "'named-binding.static.k8s.io' denied request: not so"
    )
    assert await refused(client, "no") == why
    write(folder["MutatingAdmissionPolicy"] / "label.yaml", *mutation("from-a-file"))
    made = await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    assert made["metadata"]["labels"] == {"from-a-file": "true"}
    # Its own API knows nothing of it, and what is bound there binds nothing of a file.
    policies = GVR(GROUP, "v1", "validatingadmissionpolicies")
    assert (await client.list(policies)).items == []
    file = folder["ValidatingAdmissionPolicy"] / "named.yaml"
    file.write_text("kind: [")  # keeps what was there
    assert await refused(client, "no") == why
    file.unlink()
    await client.create(CONFIGMAPS, config_map("no"), namespace="default")
    counted = await figures(client)
    plugin = "ValidatingAdmissionPolicy"
    assert (counted[plugin, "success"], counted[plugin, "failure"]) == (2, 1)
    assert counted["MutatingAdmissionPolicy", "success"] == 2
    assert counted["MutatingAdmissionWebhook", "success"] == 1
    lines = (await client.send("GET", "/metrics")).body.decode().splitlines()
    [newest] = [line for line in lines if "_last_config_info{" in line and 'plugin="MutatingAdmissionPolicy"' in line]
    assert 'hash="sha256:' in newest
    [newest] = [line for line in lines if "_last_config_info{" in line and f'plugin="{plugin}"' in line]
    assert 'hash=""' in newest


async def test_what_configures_admission_is_guarded_by_files_alone(served: tuple[Client, dict[str, Path]]) -> None:
    client, folder = served
    guarded: Object = {
        "apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["DELETE"],
        "resources": ["validatingadmissionpolicies", "mutatingwebhookconfigurations"],
    }  # fmt: skip
    kept = {"expression": "!('keep' in oldObject.metadata.?labels.orValue({}))", "message": "protected"}
    items = policy("guard", kept, rule=guarded)
    write(
        folder["ValidatingAdmissionPolicy"] / "list.json", {"apiVersion": "v1", "kind": "List", "items": items}
    )  # YAML is more than JSON
    webhooks = GVR(GROUP, "v1", "mutatingwebhookconfigurations")
    for name, labels in (("kept", {"keep": ""}), ("other", {})):
        kind = {"apiVersion": VERSION, "kind": "MutatingWebhookConfiguration"}
        await client.create(webhooks, {**kind, "metadata": {"name": name, "labels": labels}})
    with pytest.raises(ApiError, match="denied request: protected"):
        await client.delete(webhooks, "kept")
    await client.delete(webhooks, "other")
    # Reviews are for nobody.
    everything: Object = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    write(folder["ValidatingAdmissionPolicy"] / "list.json", *policy("all", {"expression": "false"}, rule=everything))
    review = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}}
    await client.create(GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews"), review)
    with pytest.raises(ApiError, match=r"'all\.static\.k8s\.io'"):
        await client.create(SECRETS, {"metadata": {"name": "s"}}, namespace="default")


async def test_webhooks_of_files_come_first(served: tuple[Client, dict[str, Path]], hooks: Hooks) -> None:
    client, folder = served

    def setting(key: str, value: str) -> Any:
        return patching({"op": "add", "path": f"/metadata/labels/{key}", "value": value})

    rules = [{**CONFIG_MAPS, "operations": ["*"]}]
    configurations: Object = {
        **CONFIG_MAPS, "apiGroups": [GROUP], "resources": ["mutatingwebhookconfigurations"],
    }  # fmt: skip
    hooks.answers |= {"static": setting("who", "static"), "no": lambda request: {"allowed": False}}
    static = webhook("Mutating", "z", f"{hooks.url}/static", hooks.bundle, *rules)
    write(folder["MutatingAdmissionWebhook"] / "z.yaml", static)
    hooks.client = client
    await hooks.register("Mutating", "a", setting("then", "api"), rules=rules)
    made = await client.create(CONFIGMAPS, config_map("c", {"for": "c"}), namespace="default")
    assert made["metadata"]["labels"] == {"for": "c", "who": "static", "then": "api"}
    assert [path for path, _ in hooks.asked] == ["static", "a"]
    guard = webhook("Validating", "guard", f"{hooks.url}/no", hooks.bundle, configurations)
    write(folder["ValidatingAdmissionWebhook"] / "guard.yml", guard)
    with pytest.raises(ApiError, match=r'"guard\.example\.com" denied the request'):
        await hooks.register("Mutating", "b")
    (folder["ValidatingAdmissionWebhook"] / "guard.yml").unlink()
    await hooks.register("Mutating", "b")


POLICY, BINDING = policy("p", {"expression": "true"})
HOOK = webhook("Validating", "h", "https://example.com", "")
DIRECTORY = "FOLDER"
REFUSED: dict[str, tuple[str, list[Object] | str, str]] = {
    "a name of the API": (
        "ValidatingAdmissionWebhook", [{**HOOK, "metadata": {"name": "h"}}],
        'error loading FOLDER/a.yaml: "h" in file "FOLDER/a.yaml" must have a name ending with ".static.k8s.io"',
    ),
    "a name twice": (
        "ValidatingAdmissionWebhook", [HOOK, HOOK],
        'error loading FOLDER/a.yaml: duplicate name "h.static.k8s.io" found in file "FOLDER/a.yaml" (previously seen '
        'in "FOLDER/a.yaml")',
    ),
    "a Service": (
        "ValidatingAdmissionWebhook",
        [{**HOOK, "webhooks": [{**HOOK["webhooks"][0],
                                "clientConfig": {"service": {"name": "s", "namespace": "ns"}}}]}],
        'error loading FOLDER/a.yaml: webhook "h.example.com" in "h.static.k8s.io" (file "FOLDER/a.yaml"): '
        "clientConfig.service is not supported for static manifests; use clientConfig.url instead",
    ),
    "what is for another plugin": (
        "MutatingAdmissionWebhook", [HOOK],
        "error loading FOLDER/a.yaml: unsupported resource type *v1.ValidatingWebhookConfiguration",
    ),
    "another version": (
        "ValidatingAdmissionPolicy", [{**POLICY, "kind": "MutatingAdmissionPolicy"}],
        f"error loading FOLDER/a.yaml: unsupported resource type {VERSION}, Kind=MutatingAdmissionPolicy",
    ),
    "what is for another plugin, within a list": (
        "ValidatingAdmissionPolicy", [{"apiVersion": "v1", "kind": "List", "items": [HOOK]}],
        f"error loading FOLDER/a.yaml: unsupported resource type {VERSION}, Kind=ValidatingWebhookConfiguration in "
        "List",
    ),
    "no kind of admission": (
        "ValidatingAdmissionPolicy", [{"apiVersion": "v1", "kind": "ConfigMap"}],
        'error loading FOLDER/a.yaml: no kind "ConfigMap" is registered for version "v1"',
    ),
    "no kind": (
        "ValidatingAdmissionPolicy", [{"apiVersion": "v1"}],
        "error loading FOLDER/a.yaml: Object 'Kind' is missing in '{\"apiVersion\":\"v1\"}'",
    ),
    "a wrong type": (
        "ValidatingAdmissionPolicy", [{**POLICY, "spec": {**POLICY["spec"], "variables": 1}}],
        "error loading FOLDER/a.yaml: json: cannot unmarshal number into Go struct field "
        "ValidatingAdmissionPolicySpec.spec.variables of type []v1.Variable",
    ),
    "an unknown field": (
        "ValidatingAdmissionPolicy", [{**POLICY, "spec": {**POLICY["spec"], "extra": 1}}],
        'error loading FOLDER/a.yaml: strict decoding error: unknown field "spec.extra"',
    ),
    "a field twice": (
        "ValidatingAdmissionPolicy", "kind: A\nkind: B\n",
        'error loading FOLDER/a.yaml: strict decoding error: yaml: unmarshal errors:\n  line 2: key "kind" already set '
        "in map",
    ),
    "what is not valid": (
        "ValidatingAdmissionPolicy", policy("p", {"expression": "what"}),
        'error loading FOLDER/a.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.validations[0].expression: '
        'Invalid value: "what": compilation failed: ERROR: <input>:1:1: undeclared reference to \'what\' (in container '
        "'')\n | what\n | ^",
    ),
    "parameters": (
        "ValidatingAdmissionPolicy",
        policy("p", {"expression": "true"}, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
        'error loading FOLDER/a.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.paramKind is not supported for '
        "static manifests",
    ),
    "parameters of a binding": (
        "ValidatingAdmissionPolicy",
        [POLICY, {**BINDING, "spec": {**BINDING["spec"], "paramRef": {"name": "c",
                                                                      "parameterNotFoundAction": "Deny"}}}],
        'error loading FOLDER/a.yaml: binding "p-binding.static.k8s.io": spec.paramRef is not supported for static '
        "manifests",
    ),
    "a policy of the API": (
        "ValidatingAdmissionPolicy", [{**BINDING, "spec": {**BINDING["spec"], "policyName": "p"}}],
        'error loading FOLDER/a.yaml: binding "p-binding.static.k8s.io": spec.policyName "p" must end with '
        '".static.k8s.io"',
    ),
    "no such policy": (
        "ValidatingAdmissionPolicy", [BINDING],
        'binding "p-binding.static.k8s.io" references policy "p.static.k8s.io" which does not exist in the manifest '
        "directory",
    ),
}  # fmt: skip


def told(file: Path, version: str = "") -> str:
    """What a server would not start with."""
    with pytest.raises(UsageError) as error:
        configure(UpOptions(admission_control_config_file=str(file), kubernetes_version=version))
    return str(error.value).removeprefix("--admission-control-config-file: ")


def test_what_a_folder_may_not_hold(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for case, (plugin, content, why) in REFUSED.items():
        if isinstance(content, str):
            (folder / "a.yaml").write_text(content)
        else:
            write(folder / "a.yaml", *content)
        said = told(configured(tmp_path, **{plugin: {"staticManifestsDir": str(folder)}}))
        began = f'failed to load static manifests of {plugin} from "{folder}": '
        assert said == began + why.replace(DIRECTORY, str(folder)), case


def test_how_webhooks_and_policies_may_be_configured(tmp_path: Path) -> None:
    plugin, folder = "ValidatingAdmissionPolicy", tmp_path / "folder"
    file = tmp_path / "file"
    file.write_text("")
    rows: list[tuple[str, Object, str]] = [
        (plugin, {"staticManifestsDir": "folder"},
         'staticManifestsDir: Invalid value: "folder": must be an absolute file path'),
        (plugin, {"staticManifestsDir": str(folder)},
         f'staticManifestsDir: Invalid value: "{folder}": unable to read: stat {folder}: no such file or directory'),
        (plugin, {"staticManifestsDir": str(file)},
         f'staticManifestsDir: Invalid value: "{file}": must be a directory'),
        (plugin, {"kind": "MutatingAdmissionPolicyConfiguration"},
         f'no kind "MutatingAdmissionPolicyConfiguration" is registered for version "{CONFIG}"'),
        (plugin, {"kubeConfigFile": "/x"}, 'strict decoding error: unknown field "kubeConfigFile"'),
        ("MutatingAdmissionWebhook", {"kubeConfigFile": "x"},
         'kubeConfigFile: Invalid value: "x": must be an absolute file path'),
        ("MutatingAdmissionWebhook", {"kubeConfigFile": str(folder)}, f"stat {folder}: no such file or directory"),
    ]  # fmt: skip
    for name, part, why in rows:
        assert told(configured(tmp_path, **{name: part})) == f'couldn\'t init admission plugin "{name}": {why}'
    folder.mkdir()
    asked = configured(tmp_path, ValidatingAdmissionWebhook={"staticManifestsDir": str(folder)})
    assert told(asked, "1.36").endswith(
        "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature "
        "gate to be enabled"
    )
    configure(UpOptions(admission_control_config_file=str(asked)))


async def test_webhooks_are_asked_as_who_is_for_them(
    world: World, store: SqliteStore, tmp_path: Path, hooks: Hooks
) -> None:
    """client_auth_test.go, and the rest of ClientConfigFor."""
    host = hooks.url.removeprefix("https://")
    secret = tmp_path / "secret"
    secret.write_text("of-a-file\n")
    people: dict[str, Object] = {
        host: {"token": "with-port"}, "127.0.0.1": {"token": "without"}, "*.0.0.1": {"token": "star"},
        "*": {"token": "any"},
    }  # fmt: skip
    of_file, basic = {"tokenFile": "secret"}, {"username": "u", "password": "p"}
    as_another = {"token": "t", "as": "jane", "as-groups": ["a", "b"]}
    rows: list[tuple[dict[str, Object], dict[str, str]]] = [
        (people, {"authorization": "Bearer with-port"}),
        ({name: user for name, user in people.items() if name != host}, {"authorization": "Bearer any"}),
        ({f"*.{host.partition('.')[2]}": of_file}, {"authorization": "Bearer of-a-file"}),
        ({"current": basic}, {"authorization": f"Basic {base64.b64encode(b'u:p').decode()}"}),
        ({"*": as_another}, {"authorization": "Bearer t", "impersonate-user": "jane", "impersonate-group": "b"}),
        ({}, {}),
    ]
    for users, expected in rows:
        kubeconfig: Object = {
            "users": [{"name": name, "user": user} for name, user in users.items()],
            "contexts": [{"name": "c", "context": {"user": "current"}}], "current-context": "c",
        }  # fmt: skip
        file = tmp_path / "kubeconfig"
        file.write_bytes(orjson.dumps(kubeconfig))
        config = configured(tmp_path, MutatingAdmissionWebhook={"kubeConfigFile": str(file)})
        server = ApiServer(world, store, config=ClusterConfig(admission_control_config_file=config))
        await server.start()
        hooks.client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        configurations = GVR(GROUP, "v1", "mutatingwebhookconfigurations")
        await hooks.register("Mutating", "a")
        await hooks.create(dry_run=True)
        await hooks.client.delete(configurations, "a")
        sent = hooks.headers[-1]
        kept = {name: value for name, value in sent.items() if name.startswith(("authorization", "impersonate"))}
        assert kept == expected
        await server.stop()
