"""The table of main screens: what gives each its key, its tab, its `:name` and its entry in the command palette.

To add a screen: write `ktui/screens/NAME.py` with a subclass of `FrameScreen` (see `ktui/screens/frame.py` for what it
gets for nothing), and put one line here. A screen's module is loaded when it is first shown, or when nobody has asked
for it for a while (`load_all`): the first frame does not wait for screens that nobody looks at yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ktui.screens.frame import FrameScreen


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is its mode and what is typed after `:`; `about` is what the palette says; `where` is `module:Class`.

    `short` is its title where there is little room.
    """

    name: str
    key: str
    title: str
    about: str
    where: str
    short: str = ""

    def make(self) -> FrameScreen:
        module, _, kind = self.where.partition(":")
        screen: FrameScreen = getattr(import_module(module), kind)()
        return screen


CATALOGUE = (
    Entry("flow", "1", "Flow", "every request, event and step as it happens", "ktui.screens.flow:FlowScreen"),
    Entry("objects", "2", "Objects", "any resource, live", "ktui.screens.objects:ObjectsScreen"),
    Entry("store", "3", "Store", "etcd's keys and their revisions", "ktui.screens.store:StoreScreen"),
    Entry("watches", "4", "Watches", "who streams what, and how far each is", "ktui.screens.watches:WatchesScreen"),
    Entry(
        "controllers",
        "5",
        "Controllers",
        "queues, and desired against actual",
        "ktui.screens.controllers:ControllersScreen",
        short="Control",
    ),
    Entry("scheduler", "6", "Scheduler", "who waits, and why which node", "ktui.screens.scheduler:SchedulerScreen"),
    Entry("nodes", "7", "Nodes", "kubelets at work, and their Pods as tiles", "ktui.screens.nodes:NodesScreen"),
    Entry(
        "dashboard",
        "8",
        "Dashboard",
        "rates, latencies, depths and counts over time",
        "ktui.screens.dashboard:DashboardScreen",
        short="Dash",
    ),
    Entry("tree", "9", "Tree", "workloads by owner, down to containers", "ktui.screens.tree:TreeScreen"),
)
SCREENS = {entry.name: entry.title for entry in CATALOGUE}
ENTRIES = {entry.name: entry for entry in CATALOGUE}


def load_all() -> None:
    """What a screen is first shown with is there by then: to load it took a third of the time until it was seen."""
    for entry in CATALOGUE:
        import_module(entry.where.partition(":")[0])
