"""Where an engine is reached, in words that another process of the screen's can be told."""

from __future__ import annotations

import os
from dataclasses import dataclass

from engine.client.connection import Connection, Overrides
from engine.client.kubeconfig import KubeConfig


@dataclass(frozen=True, slots=True)
class Address:
    """A kubeconfig ("" for what $KUBECONFIG names), whose current context says who one is, and a URL in place of its
    server's ("" for that one)."""

    kubeconfig: str
    server: str = ""

    def environment(self) -> dict[str, str]:
        """That of a command which is to find this kubeconfig."""
        return {**os.environ, "KUBECONFIG": self.kubeconfig} if self.kubeconfig else dict(os.environ)

    def connection(self) -> Connection:
        """Raises KubeConfigError."""
        return KubeConfig.load(self.kubeconfig).connection(Overrides(server=self.server))
