"""ktui's own commands that may be given after `:` too: what `ktui WORDS` prints there is printed into a pane.

They are loaded where they are done, in a process of their own; here are their words and flags, to complete a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NAMES = ("store", "schedule", "trace")
OF_OBJECTS = frozenset({"schedule", "trace"})  # they take KIND/NAME, of a namespace
FLAGS: Mapping[str, Sequence[str]] = {
    "schedule": (
        "--cluster",
        "--compare-config",
        "--config",
        "--count",
        "--details",
        "--filename",
        "--limit",
        "--namespace",
        "--nodes",
        "--output",
        "--seed",
    ),
    "store": (),
    "store alarm": (),
    "store alarm disarm": ("--write-out",),
    "store alarm list": ("--write-out",),
    "store compact": ("--physical", "--write-out"),
    "store defrag": ("--write-out",),
    "store del": ("--from-key", "--prefix", "--prev-kv", "--write-out"),
    "store endpoint": (),
    "store endpoint hashkv": ("--rev", "--write-out"),
    "store endpoint health": ("--write-out",),
    "store endpoint status": ("--write-out",),
    "store get": (
        "--consistency",
        "--count-only",
        "--from-key",
        "--hex",
        "--keys-only",
        "--limit",
        "--max-create-rev",
        "--max-mod-rev",
        "--min-create-rev",
        "--min-mod-rev",
        "--order",
        "--prefix",
        "--print-value-only",
        "--rev",
        "--sort-by",
        "--write-out",
    ),
    "store lease": (),
    "store lease grant": ("--write-out",),
    "store lease keep-alive": ("--once", "--write-out"),
    "store lease list": ("--write-out",),
    "store lease revoke": ("--write-out",),
    "store lease timetolive": ("--keys", "--write-out"),
    "store member": (),
    "store member heal": ("--write-out",),
    "store member list": ("--write-out",),
    "store member partition": ("--write-out",),
    "store member slow": ("--write-out",),
    "store member start": ("--write-out",),
    "store member status": ("--write-out",),
    "store member stop": ("--write-out",),
    "store move-leader": ("--write-out",),
    "store put": ("--ignore-lease", "--ignore-value", "--lease", "--prev-kv", "--write-out"),
    "store snapshot": (),
    "store snapshot restore": ("--bump-revision", "--mark-compacted"),
    "store snapshot save": ("--write-out",),
    "store snapshot status": ("--write-out",),
    "store status": ("--write-out",),
    "store txn": ("--interactive", "--write-out"),
    "store watch": ("--hex", "--interactive", "--prefix", "--prev-kv", "--progress-notify", "--rev", "--write-out"),
    "trace": ("--all", "--events", "--namespace", "--output"),
}


def is_own(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0] in NAMES


def in_namespace(argv: Sequence[str], namespace: str) -> tuple[str, ...]:
    """With the namespace that is shown, where the words name none and are about objects."""
    names_one = any(word.startswith(("-n", "--namespace")) for word in argv)
    return tuple(argv) if names_one or argv[0] not in OF_OBJECTS else (*argv, f"--namespace={namespace}")


def words_after(words: Sequence[str]) -> list[str]:
    """The commands of a group."""
    head = " ".join((*words, ""))
    return [path.removeprefix(head) for path in FLAGS if path.startswith(head) and path.count(" ") == len(words)]


def flags_of(words: Sequence[str]) -> Sequence[str]:
    """Of the command that the words begin with."""
    paths = (" ".join(words[:length]) for length in (3, 2, 1))
    return next((FLAGS[path] for path in paths if path in FLAGS), ())
