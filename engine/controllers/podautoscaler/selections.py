"""Whose Pods an autoscaler's target has (hpa_selector_store.go, validateAndParseSelector of horizontal.go).

Two autoscalers that reckon with the same Pods would pull them to and fro, whatever targets they name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object


class SelectionError(Exception):
    """The Pods cannot be told: `reason` is the event's, `condition` reason and message of `ScalingActive`."""

    def __init__(self, text: str, *, reason: str, condition: tuple[str, str]) -> None:
        super().__init__(text)
        self.reason = reason
        self.condition = condition


class Selections:
    """By autoscaler, as `namespace/name`, what its target's Pods are selected by as far as it has been looked at."""

    def __init__(self) -> None:
        self._selectors: dict[str, LabelSelector] = {}

    def forget(self, key: str) -> None:
        self._selectors.pop(key, None)

    def choose(self, key: str, text: str, pods_by: Callable[[LabelSelector], Sequence[Object]]) -> LabelSelector:
        """The selector that a target's scale tells. Raises SelectionError."""
        if not text:
            missing = ("InvalidSelector", "the HPA target's scale is missing a selector")
            raise SelectionError("selector is required", reason="SelectorRequired", condition=missing)
        try:
            selector = LabelSelector.parse(text)
        except ApiError as error:
            said = f"couldn't convert selector into a corresponding internal selector object: {error}"
            raise SelectionError(said, reason="InvalidSelector", condition=("InvalidSelector", said)) from None
        self._selectors[key] = selector
        if len(rivals := self._selecting(key, pods_by(selector))) > 1:
            said = f"pods by selector {text} are controlled by multiple HPAs: [{' '.join(rivals)}]"
            raise SelectionError(said, reason="AmbiguousSelector", condition=("AmbiguousSelector", said))
        return selector

    def _selecting(self, key: str, pods: Sequence[Object]) -> list[str]:
        """The autoscalers of the namespace that have any of these Pods."""
        namespace = key.partition("/")[0]
        near = {each: selector for each, selector in self._selectors.items() if each.partition("/")[0] == namespace}
        if len(near) < 2:
            return list(near)
        labels = [pod["metadata"].get("labels") or {} for pod in pods]
        return sorted(each for each, selector in near.items() if any(map(selector.matches, labels)))
