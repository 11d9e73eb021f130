"""`set`: change one feature of objects."""

from engine.kubectl.verbs.setting.command import COMMAND

__all__ = ["COMMAND"]
