"""What changes objects, marked or under the cursor: each is one of kubectl's commands, and says what kubectl says."""

from __future__ import annotations

from collections.abc import Sequence

from textual import work

from engine.api.errors import ApiError
from engine.api.types import GVR, NODES, Object
from ktui.screens.frame import FrameScreen
from ktui.widgets.dialogs import Prompt, Question

SCALED = frozenset({"deployments.apps", "replicasets.apps", "statefulsets.apps", "replicationcontrollers"})
ROLLED_OUT = frozenset({"deployments.apps", "statefulsets.apps", "daemonsets.apps"})
MOST_NAMES = 5  # in a question
Name = tuple[str | None, str]  # namespace and name
YES_OR_NO = {"y": "Yes", "n": "No"}
PROPAGATION = {"y": "background", "f": "foreground", "o": "orphan", "g": "background"}


class ObjectChanges(FrameScreen):
    """For a screen that says which resource it shows, and which object of it is chosen."""

    @property
    def resource(self) -> GVR:
        raise NotImplementedError

    def chosen(self) -> Name | None:
        """Namespace and name of the row under the cursor."""
        raise NotImplementedError

    async def read(self) -> Object | None:
        chosen = self.chosen()
        if chosen is None:
            return None
        try:
            return await self.ktui.session.client.get(self.resource, chosen[1], namespace=chosen[0])
        except (ApiError, ConnectionError) as error:
            self.ktui.complain(error, chosen[1])
            return None

    @property
    def _kind(self) -> str:
        return self.resource.group_resource

    def targets(self) -> list[Name]:
        """What is to be changed: all that is marked, else what is under the cursor."""
        chosen = self.chosen()
        return [chosen] if chosen is not None else []

    def done(self) -> None:
        """What was marked has had its turn."""

    def _words(self, words: Sequence[str], namespace: str | None, names: Sequence[str]) -> tuple[str, ...]:
        """A command on objects of a namespace, which stand where the words say NAME or KIND/NAME."""
        named = {"NAME": names, "KIND/NAME": [f"{self._kind}/{name}" for name in names]}
        place = ("-n", namespace) if namespace else ()
        dash = words.index("--") if "--" in words else len(words)
        put = [name for word in words[:dash] for name in named.get(word, (word,))]
        return (*put, *place, *words[dash:])

    def _do(self, *words: str, to: Sequence[Name] = ()) -> None:
        """Do it and say in a line what came of it. `to` is what was meant before a question, whatever is here now."""
        places: dict[str | None, list[str]] = {}
        for namespace, name in to or self.targets():
            places.setdefault(namespace, []).append(name)
        for namespace, names in places.items():
            self.ktui.do_and_say(self._words(words, namespace, names))
        self.done()

    def _named(self) -> str:
        """The targets in a few words."""
        targets = self.targets()
        if len(targets) != 1:
            return f"{len(targets)} {self._kind}"
        place = f" in namespace {targets[0][0]}" if targets[0][0] else ""
        return f"{self._kind}/{targets[0][1]}{place}"

    def _only(self, kinds: frozenset[str], what: str) -> bool:
        """Whether the resource is one of those that it can be done to; says so if not."""
        if self._kind not in kinds:
            self.notify(f"{what} is for {', '.join(sorted(kinds))}", severity="warning", timeout=3)
        return self._kind in kinds

    # -- doing

    @work(exclusive=True, group="scale", exit_on_error=False)
    async def action_scale(self) -> None:
        targets, obj = self.targets(), await self.read()
        if obj is None:
            return
        now = str(obj.get("spec", {}).get("replicas", 1))
        wanted = await self.app.push_screen_wait(Prompt(f"Replicas of {self._named()}", now))
        if wanted:
            self._do("scale", "KIND/NAME", f"--replicas={wanted}", to=targets)

    @work(exclusive=True, group="restart", exit_on_error=False)
    async def action_restart(self) -> None:
        if self._only(ROLLED_OUT, "restart"):
            await self._ask_and_do("Restart", "Its Pods are replaced, as its strategy says.", "rollout", "restart")

    @work(exclusive=True, group="undo", exit_on_error=False)
    async def action_undo(self) -> None:
        if self._only(ROLLED_OUT, "undo"):
            await self._ask_and_do("Roll back", "To the revision before.", "rollout", "undo")

    async def _ask_and_do(self, what: str, consequence: str, *command: str) -> None:
        """One letter is not enough, as in k9s: it may be a slip of the hand, or the first of a text that is pasted."""
        targets = self.targets()
        question = Question(f"{what} {self._named()}?\n\n{consequence}", YES_OR_NO, focus="n")
        if targets and await self.app.push_screen_wait(question) == "y":
            self._do(*command, "KIND/NAME", to=targets)

    @work(exclusive=True, group="cordon", exit_on_error=False)
    async def action_cordon(self) -> None:
        if not self._only(frozenset({NODES.resource}), "cordon"):
            return
        targets, named, node = self.targets(), self._named(), await self.read()
        if node is None:
            return
        is_cordoned = node.get("spec", {}).get("unschedulable")
        verb, consequence = (
            ("uncordon", "New Pods may come to it again.") if is_cordoned else ("cordon", "No new Pods come to it.")
        )
        question = Question(f"{verb.capitalize()} {named}?\n\n{consequence}", YES_OR_NO, focus="n")
        if await self.app.push_screen_wait(question) == "y":
            self._do(verb, "NAME", to=targets)

    @work(exclusive=True, group="exec", exit_on_error=False)
    async def action_exec(self) -> None:
        """One command; what it prints is shown."""
        chosen = self.chosen()
        if chosen is None or not self._only(frozenset({"pods"}), "exec"):
            return
        command = await self.app.push_screen_wait(Prompt(f"Run in pod/{chosen[1]}", "ls /"))
        if command:
            place = ("-n", chosen[0]) if chosen[0] else ()
            self.ktui.run_kubectl(
                ("exec", chosen[1], *place, "--", "sh", "-c", command), f"exec {chosen[1]} -- {command}"
            )

    @work(exclusive=True, group="delete", exit_on_error=False)
    async def action_delete(self) -> None:
        """Delete the objects, once that is confirmed and it is said what becomes of what they own."""
        targets = self.targets()
        if not targets:
            return
        answers = {"y": "Yes", "n": "No", "f": "Foreground", "o": "Orphan", "g": "No grace"}
        names = [name for _, name in targets]
        listed = ("\n" + "\n".join(several(names)) + "\n") if len(names) > 1 else ""
        question = (
            f"Delete {self._named()}?\n{listed}\n"
            "Yes: what it owns goes after it. Foreground: before it. Orphan: stays.\n"
            "No grace: at once, without waiting for containers to end."
        )
        answer = await self.app.push_screen_wait(Question(question, answers, focus="n"))
        if answer in PROPAGATION:
            grace = ("--grace-period=0", "--force") if answer == "g" else ()
            self._do("delete", "KIND/NAME", f"--cascade={PROPAGATION[answer]}", "--wait=false", *grace, to=targets)

    def action_kill(self) -> None:
        """As k9s does: a second of grace, and no question."""
        if self._only(frozenset({"pods"}), "kill"):
            self._do("delete", "KIND/NAME", "--now", "--wait=false")


def several(names: Sequence[str]) -> list[str]:
    """The first of some names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return [*names[:MOST_NAMES], *([f"and {more} more"] if more > 0 else [])]
