"""A resource after `:`, and which of its objects: `deploy kube-system`, `po -l app=web`, `po /web`, as in k9s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

EVERYWHERE = frozenset({"all", "-A", "--all-namespaces", "*"})
_ALWAYS = frozenset({"-w", "--watch", "--watch=true"})  # what is listed is live anyway
_FLAGS = {"-n": "namespace", "--namespace": "namespace", "-l": "labels", "--selector": "labels"}
# Words that k9s has beside kubectl's short names; a resource that is really called so goes before.
ALSO_CALLED: Mapping[str, str] = {
    "dp": "deployments.apps",
    "sec": "secrets",
    "jo": "jobs.batch",
    "np": "networkpolicies.networking.k8s.io",
    "cr": "clusterroles.rbac.authorization.k8s.io",
    "crb": "clusterrolebindings.rbac.authorization.k8s.io",
    "ro": "roles.rbac.authorization.k8s.io",
    "rb": "rolebindings.rbac.authorization.k8s.io",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """`namespace` is None for the one that is shown, "" for all; `filter` is what would be typed after `/`."""

    namespace: str | None = None
    filter: str = ""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Listing | None:
        """None where a word says neither: then it is a command."""
        namespace, filters = None, []
        for what, value in _told(words):
            if what == "namespace" and namespace is None:
                namespace = "" if value in EVERYWHERE else value
            elif what == "labels":
                filters.append(f"-l {value}")
            elif what == "filter":
                filters.append(value)
            else:
                return None
        return cls(namespace, " ".join(filters))


NO_LISTING = Listing()


def _told(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    pending = iter(words)
    for word in pending:
        flag, equals, value = word.partition("=")
        if word in _ALWAYS:
            continue
        if flag in _FLAGS:
            yield _FLAGS[flag], value if equals else next(pending, "")
        elif word.startswith("/"):
            yield "filter", word[1:]
        elif word in EVERYWHERE or (word[:1].isalnum() and not equals):
            yield "namespace", word
        else:
            yield ("labels" if equals and not word.startswith("-") else ""), word
