"""A scheduler's configuration, read and checked: what `Scheduler` and the what-if are built from."""

from __future__ import annotations

from dataclasses import dataclass

from engine.scheduler.framework.profile import Profile
from engine.scheduler.queue.backoff import INITIAL_BACKOFF, MAX_BACKOFF


@dataclass(frozen=True, slots=True)
class ExtenderConfiguration:
    """One HTTP extender. A verb that is "" is not asked for; TLS fields hold paths, or PEM as text."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    weight: int = 1
    timeout: float = 5.0
    node_cache_capable: bool = False
    ignorable: bool = False
    managed_resources: frozenset[str] = frozenset()
    ignored_resources: frozenset[str] = frozenset()  # those of them that NodeResourcesFit leaves to the extender
    enable_https: bool = False
    insecure: bool = False
    server_name: str = ""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """`notes` are for people: what was read and has no effect here."""

    profiles: tuple[Profile, ...] = (Profile(),)
    initial_backoff: float = INITIAL_BACKOFF
    max_backoff: float = MAX_BACKOFF
    extenders: tuple[ExtenderConfiguration, ...] = ()
    notes: tuple[str, ...] = ()
