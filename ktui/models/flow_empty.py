"""What the Flow screen says where it has no line to show: nothing is known, nothing happened, or what did is hidden."""

from __future__ import annotations

from ktui.models.flow import NOISES, FlowModel
from ktui.models.trouble import ASKING

NOTHING_YET = (
    "Nothing has happened yet.",
    "",
    "Apply something:   :apply -f samples/web.yaml",
    "or use kubectl in another terminal:",
    "export KUBECONFIG=$(ktui kubeconfig --path)",
)
NOT_ALLOWED = (
    "These credentials may not see what happens inside.",
    "",
    "2 lists the objects that they may read.",
    "Other credentials:",
    "KUBECONFIG=FILE ktui --attach URL",
)
BACK = "p shows all that happens."


def why_empty(model: FlowModel, *, is_pinned: bool) -> tuple[str, ...]:
    """Why there is no line, and which key brings some; `is_pinned` where one trace is shown alone."""
    if model.filter.problem:
        return (model.filter.problem, "", "Esc takes the filter away.")
    if not model.filter.empty:
        labels = ("Labels are asked for with -l app=web.",) if any("=" in word for word in model.filter.words) else ()
        return (f"No line meets {model.filter.text}.", "", *labels, "Esc takes the filter away.")
    if not is_pinned:
        return NOT_ALLOWED if model.is_forbidden else NOTHING_YET if model.is_told else (ASKING,)
    hidden = [noise for noise in NOISES if model.hidden[noise] and noise not in model.show]
    if not hidden:
        why = "The beginning of this trace was not seen." if model.seen else "Nothing of this trace is kept any more."
        return (why, "", BACK)
    keys = " · ".join(f"{noise[0]} shows {noise} ({model.hidden[noise]})" for noise in hidden)
    return ("All of this trace is hidden.", "", keys, BACK)
