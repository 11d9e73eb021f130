"""The Store screen's rows: etcd's keys as the debug endpoint lists them, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from ktui.models.grid_row import GridRow
from ktui.models.row_filter import FIELDS, LABELS, has_words, split

ROOT = "/registry/"
TITLES = ("KEY", "CREATE", "MOD", "VER", "SIZE", "LEASE")
NO_FIELDS = "keys have no fields: words, -l LABELS, or /pods/ for what keys begin with"


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """What is typed after `/`: words that are in a key, `!word` that is not, `-l` for the labels of the object in it;
    `/pods/default` is what keys begin with. `problem` is what is wrong with the text; then nothing is filtered.
    """

    prefix: str = ROOT
    words: tuple[str, ...] = ()
    labels: str = ""
    problem: str = ""

    @classmethod
    def parse(cls, text: str) -> KeyFilter:
        prefix, words, labels = ROOT, [], ""
        pending = iter(split(text))
        for word in pending:
            flag, equals, value = word.partition("=")
            if flag in LABELS:
                labels = value if equals else next(pending, "")
            elif flag in FIELDS:
                return cls(problem=NO_FIELDS)
            elif word.startswith("/"):
                prefix = ROOT + word.removeprefix(ROOT).lstrip("/")
            else:
                words.append(word.lower())
        try:
            LabelSelector.parse(labels)
        except ApiError as error:
            return cls(problem=error.message)
        return cls(prefix, tuple(words), labels)

    @property
    def takes_all(self) -> bool:
        return not self.words and not self.labels

    def takes(self, key: str) -> bool:
        """By its name: which labels the object in it has is not told with a revision."""
        return key.startswith(self.prefix) and has_words(key, self.words)


ALL_KEYS = KeyFilter()


def size_text(size: int) -> str:
    if size < 1000:
        return str(size)
    units = zip("KMG", (1024, 1024**2, 1024**3), strict=True)
    return next(f"{size / least:.1f} {unit}" for unit, least in units if size < 1000 * least or unit == "G")


def bytes_text(size: int) -> str:
    """As `size_text`, where no column's title tells that these are bytes."""
    return f"{size_text(size)}{'iB' if size >= 1000 else ' B'}"


def folder_of(key: Mapping[str, Any]) -> str:
    """What a key has in common with those beside it, such as `/registry/pods/default/`."""
    return str(key["key"]).rpartition("/")[0] + "/"


def key_rows(keys: Iterable[Mapping[str, Any]], newest: int) -> list[GridRow]:
    """One row a key; what changed with the newest revision is lit."""
    return [
        GridRow(
            key["key"],
            (
                key["key"].removeprefix(ROOT),
                str(key["createRevision"]),
                str(key["modRevision"]),
                str(key["version"]),
                size_text(key["size"]),
                f"{key['lease']:x}"[-8:] if key["lease"] else "",
            ),
            "accent" if key["modRevision"] == newest else "foreground",
        )
        for key in keys
    ]


def key_tree(keys: Iterable[Mapping[str, Any]], newest: int, folded: Collection[str] = ()) -> list[GridRow]:
    """Keys under what they have in common, such as `pods/default`, whose row has a key that ends in a slash."""
    rows: list[GridRow] = []
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for key in keys:
        groups.setdefault(folder_of(key), []).append(key)
    for group, members in groups.items():
        is_folded = group in folded
        name = f"{'▸' if is_folded else '▾'} {group.removeprefix(ROOT).rstrip('/') or '/'}  {len(members)}"
        size = size_text(sum(member["size"] for member in members))
        mod = max(member["modRevision"] for member in members)
        rows.append(GridRow(group, (name, "", str(mod), "", size, ""), "primary"))
        if not is_folded:
            for row in key_rows(members, newest):
                leaf = f"    {row.key.rpartition('/')[2]}"
                rows.append(GridRow(row.key, (leaf, *row.cells[1:]), row.tone))
    return rows


def folder_lines(folder: str, keys: Iterable[Mapping[str, Any]], *, is_folded: bool) -> list[str]:
    """What the keys below a folder come to: how many, how large, the newest and the oldest of them."""
    members = [key for key in keys if folder_of(key) == folder]
    if not members:
        return []
    newest = max(members, key=lambda key: key["modRevision"])
    oldest = min(members, key=lambda key: key["createRevision"])
    largest = max(members, key=lambda key: key["size"])
    leased = sum(bool(key["lease"]) for key in members)
    count = f"{len(members)} key{'' if len(members) == 1 else 's'}"
    whole = bytes_text(sum(key["size"] for key in members))
    return [
        " · ".join((count, whole, *([f"{leased} with a lease"] if leased else []))),
        f"newest   rev {newest['modRevision']}  {newest['key'].removeprefix(folder)}",
        f"oldest   rev {oldest['createRevision']}  {oldest['key'].removeprefix(folder)}",
        f"largest  {bytes_text(largest['size'])}  {largest['key'].removeprefix(folder)}",
        f"Enter {'unfolds' if is_folded else 'folds'} these keys, z all",
    ]


def key_line(key: Mapping[str, Any]) -> str:
    """What etcd knows of one key-value, in a line."""
    lease = f" · lease {key['lease']:x}" if key["lease"] else ""
    return (
        f"create {key['createRevision']} · mod {key['modRevision']} · ver {key['version']} · "
        f"{size_text(key['size'])}{lease}"
    )
