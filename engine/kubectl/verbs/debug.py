"""`debug`: a container beside those of a Pod, in a copy of it, or on a node.

Source of the behaviour: kubectl pkg/cmd/debug/debug.go.
"""

from __future__ import annotations

from dataclasses import replace

from engine.api.patch import two_way_strategic_patch
from engine.api.types import Object, copy_object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl import custom_profile
from engine.kubectl.attaching import attach_when_running
from engine.kubectl.command import Command
from engine.kubectl.debugging import PROFILES, WARNING, Style, apply_profile, named, rights_in_vain
from engine.kubectl.deletion import delete
from engine.kubectl.errors import CommandError, FlagError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.image_names import is_image_name
from engine.kubectl.random_letters import random_letters
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, infos
from engine.kubectl.session import Session

PROBES = (("keep-liveness", "livenessProbe"), ("keep-readiness", "readinessProbe"), ("keep-startup", "startupProbe"))
_TOLD = ("labels", "annotations")
TARGETING = (
    'Targeting container "{}". If you don\'t see processes from this container it may be because the container '
    "runtime doesn't support this feature."
)

_LEGACY = (
    "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other profile, "
    'for example "--profile=general".'
)


async def run(session: Session) -> None:
    _check(session)
    words = session.arguments if session.dash < 0 else session.arguments[: session.dash]
    selection = replace(Selection.of_flags(session, arguments=words or ()), typed=True)
    if words and not session.from_files:
        selection = replace(selection, arguments=[word if "/" in word else f"pods/{word}" for word in words])
    async for info in infos(session, selection):
        if isinstance(info, Exception):
            raise info
        session.working_on(info.resource, info.name, info.namespace)
        if info.resource.kind == "Node":
            pod, name = await _on_node(session, info)
        elif info.resource.kind == "Pod":
            pod, name = await (_copied if session.flags.text("copy-to") else _beside)(session, info)
        else:
            gvk = info.resource.gvk
            raise CommandError(f'"{gvk.group}/{gvk.version}, Kind={gvk.kind}" not supported by debug')
        if _attaches(session):
            await attach_when_running(session, pod, name)


def _check(session: Session) -> None:
    """Flags that do not go together; says which container is looked at. Raises CommandError."""
    flags = session.flags
    copy, image = flags.text("copy-to"), flags.text("image")
    for flag in ("env", "set-image"):
        for pair in flags.many(flag):
            if "=" not in pair:
                raise FlagError(f'invalid argument "{pair}" for "--{flag}" flag: {pair} must be formatted as key=value')
    if flags.text("profile") not in PROFILES:
        raise CommandError(f"unknown profile: {flags.text('profile')}")
    custom = custom_profile.load(flags.text("custom"))
    if not copy and not image and not flags.many("set-image"):
        raise CommandError("you must specify --image when not using --copy-to.")
    if copy and not (image or flags.many("set-image") or flags.text("container")):
        raise CommandError("you must specify --image, --set-image or command arguments.")
    if not copy:
        for name in ("set-image", "replace", "same-node"):
            if flags.given(name):
                raise CommandError(f"--{name} may only be used with --copy-to.")
    _check_images(session)
    if flags.text("target") and copy:
        raise CommandError("--target is incompatible with --copy-to. Use --share-processes instead.")
    if flags.text("target") and not flags.on("quiet"):
        session.out(TARGETING.format(flags.text("target")))
    if flags.on("tty") and not flags.on("stdin"):
        raise CommandError("-i/--stdin is required for containers with -t/--tty=true")
    custom_profile.check(custom)
    if flags.text("profile") == "legacy":
        session.err(_LEGACY)


def _check_images(session: Session) -> None:
    """And that something is to be debugged. Raises CommandError."""
    flags = session.flags
    image, policy = flags.text("image"), flags.text("image-pull-policy")
    if image and not is_image_name(image):
        raise CommandError(f'invalid image name "{image}": invalid reference format')
    if not session.arguments and not session.from_files:
        raise CommandError("NAME or filename is required for debug")
    if policy not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(f"invalid image pull policy: {policy}")
    for change in flags.many("set-image"):
        container, _, named = change.partition("=")
        if not is_image_name(named):
            raise CommandError(f'invalid image name "{named}" for container "{container}": invalid reference format')


def _attaches(session: Session) -> bool:
    flags = session.flags
    return flags.on("attach") if flags.given("attach") else flags.on("stdin")


def _container(session: Session, name: str) -> Object:
    flags = session.flags
    container: Object = {"name": name, "terminationMessagePolicy": "File"}
    if image := flags.text("image"):
        container["image"] = image
    if policy := flags.text("image-pull-policy"):
        container["imagePullPolicy"] = policy
    for key in ("stdin", "tty"):
        if flags.on(key):
            container[key] = True
    _set_words(session, container)
    if flags.many("env"):
        container["env"] = _variables(session)
    return container


def _variables(session: Session) -> list[Object]:
    pairs = (text.partition("=") for text in session.flags.many("env"))
    return [{"name": name, "value": value} for name, _, value in pairs]


def _set_words(session: Session, container: Object) -> None:
    words = session.arguments[session.dash :] if session.dash >= 0 else []
    if words:
        container["args" if session.flags.on("arguments-only") else "command"] = words


def _name(session: Session, pod: Object) -> str:
    """The debug container's name: the one that is asked for, or one that is free."""
    if given := session.flags.text("container"):
        return given
    spec = pod["spec"]
    keys = ("containers", "initContainers", "ephemeralContainers")
    taken = {container["name"] for key in keys for container in spec.get(key) or ()}
    name = f"debugger-{random_letters()}"
    while name in taken:
        name = f"debugger-{random_letters()}"
    if not session.flags.on("quiet"):
        session.out(f"Defaulting debug container name to {name}.")
    return name


def _profiled(session: Session, pod: Object, container: Object, style: Style) -> None:
    """Give the debug container what the profile and `--custom` say; tell of rights that do not come to it."""
    apply_profile(session.flags.text("profile"), pod, container["name"], style)
    changed = named(pod, container["name"])
    changed.update(custom_profile.merged(changed, custom_profile.load(session.flags.text("custom"))))
    if style is not Style.NODE and rights_in_vain(pod, container):
        session.err(WARNING)


# -- beside the containers of a Pod


async def _beside(session: Session, info: Info) -> tuple[Object, str]:
    name = _name(session, info.object)
    container = _container(session, name)
    if target := session.flags.text("target"):
        container["targetContainerName"] = target
    wanted = copy_object(info.object)
    wanted["spec"]["ephemeralContainers"] = [*(wanted["spec"].get("ephemeralContainers") or ()), container]
    _profiled(session, wanted, container, Style.EPHEMERAL)
    schema = schema_of(info.resource.gvk)
    assert schema is not None  # a Pod's
    patch = two_way_strategic_patch(info.object, wanted, schema)
    changed = await session.patch(
        info.resource, info.name, info.namespace, patch, STRATEGIC_PATCH, subresource="ephemeralcontainers"
    )
    return changed, name


# -- in a copy of a Pod


async def _copied(session: Session, info: Info) -> tuple[Object, str]:
    flags = session.flags
    pod = _copy(session, info.object)
    containers = pod["spec"]["containers"]
    _set_images(containers, flags.many("set-image"))
    wanted = flags.text("container")
    container = next((each for each in containers if each["name"] == wanted), None)
    if container is not None:
        _change(session, container)
    elif flags.text("image"):
        container = _container(session, _name(session, info.object))
        containers.append(container)
    if container is not None:  # a profile is of a debug container; a copy without one stays as it is
        _strip(session, pod)
        _profiled(session, pod, container, Style.COPY)
    if flags.given("share-processes"):
        pod["spec"]["shareProcessNamespace"] = flags.on("share-processes")
    created: Object = await session.request("POST", session.path_of(info.resource, info.namespace), body=pod)
    if flags.on("replace"):  # not before: a copy of the same name is refused, as upstream's is
        await delete(session, info, grace=0)
    return created, (container or containers[0])["name"]


def _copy(session: Session, original: Object) -> Object:
    """A Pod like another, that is yet to be placed."""
    spec = copy_object(original["spec"])
    spec.pop("ephemeralContainers", None)
    if not session.flags.on("same-node"):
        spec.pop("nodeName", None)
    kept = {key: copy_object(original["metadata"][key]) for key in _TOLD if original["metadata"].get(key)}
    metadata = {"name": session.flags.text("copy-to"), "namespace": original["metadata"]["namespace"], **kept}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _strip(session: Session, pod: Object) -> None:
    """Take away what others find the Pod by and what watches its health, unless it is to be kept."""
    flags, spec = session.flags, pod["spec"]
    for key in _TOLD:
        if not flags.on(f"keep-{key}"):
            pod["metadata"].pop(key, None)
    if not flags.on("keep-init-containers"):
        spec.pop("initContainers", None)
    for container in spec["containers"]:
        for flag, probe in PROBES:
            if not flags.on(flag):
                container.pop(probe, None)


def _set_images(containers: list[Object], pairs: list[str]) -> None:
    images: dict[str, str] = {}
    for pair in pairs:
        name, _, image = pair.partition("=")
        images[name] = image
    for container in containers:
        if image := images.get(container["name"], images.get("*", "")):
            container["image"] = image


def _change(session: Session, container: Object) -> None:
    """What the flags set of a container that is there."""
    flags = session.flags
    if image := flags.text("image"):
        container["image"] = image
    if policy := flags.text("image-pull-policy"):
        container["imagePullPolicy"] = policy
    if session.dash >= 0:
        container.pop("args", None)
        container.pop("command", None)
        _set_words(session, container)
    if flags.many("env"):
        container["env"] = _variables(session)
    for key in ("stdin", "tty"):
        container[key] = flags.on(key)


# -- on a node


async def _on_node(session: Session, info: Info) -> tuple[Object, str]:
    name = session.flags.text("container") or "debugger"
    container = _container(session, name)
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"node-debugger-{info.name}-{random_letters()}",
            "namespace": session.namespace,
            "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"},
        },
        "spec": {"nodeName": info.name, "restartPolicy": "Never", "tolerations": [{"operator": "Exists"}]},
    }
    pod["spec"]["containers"] = [container]
    _profiled(session, pod, container, Style.NODE)
    if not session.flags.on("quiet"):
        made = pod["metadata"]["name"]
        session.out(f"Creating debugging pod {made} with container {name} on node {info.name}.")
    pods = await session.resolve("pods")
    created: Object = await session.request("POST", session.path_of(pods, session.namespace), body=pod)
    return created, name


COMMAND = Command(
    name="debug",
    short="Create debugging sessions for troubleshooting workloads and nodes",
    usage="(POD | TYPE[[.VERSION].GROUP]/NAME) [ -- COMMAND [args...] ]",
    run=run,
    flags=(
        Flag("filename", Type.STRINGS, short="f", help="Files that name what is to be debugged."),
        Flag("arguments-only", Type.BOOL, help="Take the words after -- as arguments, not as the command."),
        Flag("attach", Type.BOOL, help="Attach once the container runs; so with -i."),
        Flag("container", short="c", help="The debug container's name."),
        Flag("copy-to", help="Debug a copy of the Pod, of this name."),
        Flag("custom", help="A file with a part of a container that is set besides."),
        Flag("env", Type.ARRAY, help="A variable, NAME=VALUE."),
        Flag("image", help="The debug container's image."),
        Flag("image-pull-policy", help="When to pull it."),
        Flag("keep-annotations", Type.BOOL, help="Keep the Pod's annotations in the copy."),
        Flag("keep-init-containers", Type.BOOL, default=True, help="Keep the init containers in the copy."),
        Flag("keep-labels", Type.BOOL, help="Keep the Pod's labels in the copy."),
        Flag("keep-liveness", Type.BOOL, help="Keep liveness probes in the copy."),
        Flag("keep-readiness", Type.BOOL, help="Keep readiness probes in the copy."),
        Flag("keep-startup", Type.BOOL, help="Keep startup probes in the copy."),
        Flag("profile", default="general", help="general, baseline, restricted, netadmin or sysadmin."),
        Flag("quiet", Type.BOOL, short="q", help="Print the remote output only."),
        Flag("replace", Type.BOOL, help="Delete the Pod that is copied."),
        Flag("same-node", Type.BOOL, help="Run the copy on the same node."),
        Flag("set-image", Type.STRINGS, help="Images of the copy's containers, NAME=IMAGE."),
        Flag("share-processes", Type.BOOL, default=True, help="Let the copy's containers see each other's processes."),
        Flag("stdin", Type.BOOL, short="i", help="Keep standard input open."),
        Flag("target", help="The container whose processes are to be seen."),
        Flag("tty", Type.BOOL, short="t", help="A terminal for the container."),
    ),
    examples=("debug web-5d8c -it --image=busybox", "debug node/node-1 -it --image=busybox"),
)
