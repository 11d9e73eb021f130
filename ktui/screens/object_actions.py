"""What can be done to the object under the cursor, or learned of it; `object_changes.py` holds what changes it."""

from __future__ import annotations

from typing import TextIO

from textual import work
from textual.binding import Binding, BindingType

from engine.api.types import PODS, Object
from ktui.assets import asset_folder
from ktui.models.decoded import decoded
from ktui.models.object_links import links_of
from ktui.models.pods_of import pods_of
from ktui.models.samples import samples_in
from ktui.screens.object_changes import ROLLED_OUT, SCALED, Name, ObjectChanges
from ktui.screens.output import Output
from ktui.widgets.dialogs import Choice, Prompt

LOGGED = SCALED | ROLLED_OUT | {"jobs.batch"}
FORWARDED = frozenset({"pods", "services", "deployments.apps", "statefulsets.apps", "replicasets.apps"})

ACTION_KEYS: list[BindingType] = [
    Binding("d,i", "describe", "Describe", id="objects.describe"),
    Binding("ctrl+d,delete", "delete", "Delete", id="objects.delete"),
    Binding("ctrl+k", "kill", "Kill", show=False, tooltip="delete Pods at once, unasked", id="objects.kill"),
    Binding("l", "logs", "Logs", show=False, tooltip="what containers print, as they print it", id="objects.logs"),
    Binding("p", "previous_logs", "Previous logs", show=False, tooltip="of the run before", id="objects.previous-logs"),
    Binding("v", "events", "Events", show=False, tooltip="the Events about it", id="objects.events"),
    Binding("s", "scale", "Scale", tooltip="set how many replicas there are", id="objects.scale"),
    Binding("r", "restart", "Restart", show=False, tooltip="roll all Pods out again", id="objects.restart"),
    Binding("U", "undo", "Undo", show=False, tooltip="roll back to the revision before", id="objects.undo"),
    Binding("u", "cordon", "Cordon", show=False, tooltip="cordon a node, or uncordon it", id="objects.cordon"),
    Binding("u", "use", "Use", tooltip="show the objects of this namespace", id="objects.use"),
    Binding("s", "shell", "Shell", tooltip="a shell in a Pod's (simulated) container", id="objects.shell"),
    Binding("X", "attach", "Attach", show=False, tooltip="talk to what runs in a Pod's container", id="objects.attach"),
    Binding(
        "F",
        "port_forward",
        "Port-forward",
        show=False,
        tooltip="forward a port of this machine to a Pod or Service, or end that",
        id="objects.port-forward",
    ),
    Binding("x", "exec", "Exec", show=False, tooltip="run a command in a Pod's container", id="objects.exec"),
    Binding("x", "decode", "Decode", tooltip="a Secret's values as they are", id="objects.decode"),
    Binding("z", "pods", "Its Pods", show=False, tooltip="the Pods of what is under the cursor", id="objects.pods"),
    Binding("J", "owner", "Owner", show=False, tooltip="to the object that owns it", id="objects.owner"),
    Binding("a", "sample", "Create", show=False, tooltip="create objects from a sample", id="objects.create"),
]
# Whose keys are other actions' on other resources.
ONLY_ON: dict[str, frozenset[str]] = {
    "shell": frozenset({"pods"}),
    "scale": SCALED,
    "decode": frozenset({"secrets"}),
    "use": frozenset({"namespaces"}),
}
NEVER_ON: dict[str, frozenset[str]] = {"exec": frozenset({"secrets"}), "cordon": frozenset({"namespaces"})}


class ObjectActions(ObjectChanges):
    """The keys of a screen that shows objects."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some keys are several actions', each where it makes sense."""
        if action in ONLY_ON:
            return self.is_mounted and self._kind in ONLY_ON[action]
        if action in NEVER_ON:
            return self.is_mounted and self._kind not in NEVER_ON[action]
        return super().check_action(action, parameters)

    def _show(self, *words: str, of: Name | None = None) -> None:
        """Do it and show what it prints. `of` is what was chosen before a question: the cursor may be elsewhere now."""
        if (chosen := of or self.chosen()) is not None:
            argv = self._words(words, chosen[0], [chosen[1]])
            self.ktui.run_kubectl(argv, " ".join(argv))

    # -- looking

    def action_describe(self) -> None:
        self._show("describe", self._kind, "NAME")

    def action_events(self) -> None:
        self._show("events", "--for", "KIND/NAME")

    @work(exclusive=True, group="logs", exit_on_error=False)
    async def action_logs(self) -> None:
        """Of a Pod's container, or of all; of a workload, those of all its Pods."""
        chosen = self.chosen()
        if self._kind in LOGGED:
            self._show("logs", "KIND/NAME", "--all-pods", "--all-containers", "--prefix", "-f")
        elif self.resource != PODS:
            self.notify("logs are a Pod's: :pods lists them", severity="warning", timeout=3)
        elif (pod := await self.read()) is not None:
            container = await self._container("logs of", pod, or_all=True)
            if chosen is not None and container is not None:
                self._follow_logs(chosen, pod, container)

    def _follow_logs(self, of: Name, pod: Object, container: str) -> None:
        which = ("-c", container) if container else ("--all-containers",)
        title = " ".join(self._words(("logs", "NAME", *which, "-f"), of[0], [of[1]]))
        self.ktui.follow_logs(pod, [container] if container else container_names(pod), title)

    @work(exclusive=True, group="logs", exit_on_error=False)
    async def action_previous_logs(self) -> None:
        chosen = self.chosen()
        if not self._only(frozenset({"pods"}), "previous logs") or (pod := await self.read()) is None:
            return
        if container := await self._container("previous logs of", pod):
            self._show("logs", "NAME", "-c", container, "--previous", of=chosen)

    # -- in a container

    async def _container(self, what: str, pod: Object, *, or_all: bool = False) -> str | None:
        """The Pod's container that is meant, asked for where there are several; "" for all, None for nothing."""
        names = container_names(pod)
        if len(names) == 1:
            return "" if or_all else names[0]
        every = {"": "all containers"} if or_all else {}
        return await self.app.push_screen_wait(Choice(f"{what} which container", {**every, **{n: n for n in names}}))

    @work(exclusive=True, group="exec", exit_on_error=False)
    async def action_shell(self) -> None:
        chosen, pod = self.chosen(), await self.read()
        if pod is not None and (container := await self._container("a shell in", pod)):
            self._show("exec", "-i", "NAME", "-c", container, "--", "sh", of=chosen)

    @work(exclusive=True, group="exec", exit_on_error=False)
    async def action_attach(self) -> None:
        chosen = self.chosen()
        if not self._only(frozenset({"pods"}), "attach") or (pod := await self.read()) is None:
            return
        if container := await self._container("attach to", pod):
            self._show("attach", "-i", "NAME", "-c", container, of=chosen)

    @work(exclusive=True, group="forward", exit_on_error=False)
    async def action_port_forward(self) -> None:
        """Until it is asked for again: one walks about meanwhile."""
        chosen = self.chosen()
        if chosen is None or not self._only(FORWARDED, "port-forward"):
            return
        name = f"{self._kind}/{chosen[1]}"
        if self.ktui.end_forward(name, chosen[0]):
            return
        obj = await self.read()
        if obj is None:
            return
        wanted = await self.app.push_screen_wait(Prompt(f"[LOCAL]:PORT of {name}", f":{first_port(obj)}"))
        if wanted:
            self.ktui.forward(name, chosen[0], wanted)

    # -- to others

    def action_use(self) -> None:
        if (chosen := self.chosen()) is not None:
            self.ktui.use_namespace(chosen[1])

    @work(exclusive=True, group="others", exit_on_error=False)
    async def action_pods(self) -> None:
        obj = await self.read()
        if obj is None:
            return
        listing = pods_of(self._kind, obj)
        if listing is None:
            self.notify(f"{self._kind}/{obj['metadata']['name']} selects no Pods", severity="warning", timeout=3)
        else:
            self.ktui.open_resource("pods", listing)

    @work(exclusive=True, group="others", exit_on_error=False)
    async def action_owner(self) -> None:
        obj = await self.read()
        owner = next((link for link in links_of(obj) if link.role == "owner"), None) if obj is not None else None
        if owner is not None:
            self.ktui.go_to(owner)
        elif obj is not None:
            self.notify(f"nothing owns {obj['metadata']['name']}", timeout=3, markup=False)

    @work(exclusive=True, group="others", exit_on_error=False)
    async def action_decode(self) -> None:
        secret = await self.read()
        if secret is None:
            return

        async def tell(stdout: TextIO, _: TextIO) -> int:
            stdout.write(decoded(secret))
            return 0

        self.app.push_screen(Output(f"{self._kind}/{secret['metadata']['name']}, decoded", tell))

    @work(exclusive=True, group="sample", exit_on_error=False)
    async def action_sample(self) -> None:
        """Apply one of the samples."""
        samples = {str(sample.path): sample.line for sample in samples_in(asset_folder("samples"))}
        chosen = await self.app.push_screen_wait(Choice("create from a sample", samples, width=108))
        if chosen:
            self.ktui.do_and_say(("apply", "-f", chosen))


def container_names(pod: Object) -> list[str]:
    """Containers first, then those that run before or beside them."""
    spec = pod.get("spec") or {}
    fields = ("containers", "initContainers", "ephemeralContainers")
    return [container["name"] for field in fields for container in spec.get(field) or ()]


def first_port(obj: Object) -> int:
    """The first port that an object tells of: a Service's, or one of its containers'."""
    spec = obj.get("spec") or {}
    if spec.get("ports"):
        return int(spec["ports"][0]["port"])
    inner = spec.get("template", {}).get("spec", spec)
    ports = [
        port["containerPort"] for container in inner.get("containers") or () for port in container.get("ports") or ()
    ]
    return int(ports[0]) if ports else 80
