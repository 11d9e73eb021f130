"""The namespace controller: empties a namespace that is being deleted, then lets it go."""

from engine.controllers.namespace.controller import NamespaceController

__all__ = ["NamespaceController"]
