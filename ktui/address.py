"""Where an engine is reached, in words that another process of the screen's can be told."""

from __future__ import annotations

from dataclasses import dataclass

from engine.client.connection import Connection, Overrides
from engine.client.kubeconfig import KubeConfig


@dataclass(frozen=True, slots=True)
class Address:
    """A kubeconfig ("" for what $KUBECONFIG names), whose current context says who one is, and a URL in place of its
    server's ("" for that one)."""

    kubeconfig: str
    server: str = ""

    def connection(self) -> Connection:
        """Raises KubeConfigError."""
        return KubeConfig.load(self.kubeconfig).connection(Overrides(server=self.server))
