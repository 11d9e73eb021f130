"""The form of what webhooks answer with, as Go's structs have it: what is of another type is no answer.

Source: k8s.io/api/admission/v1 (AdmissionReview), apiextensions-apiserver pkg/apis/apiextensions/v1 (ConversionReview)
and apimachinery's Status, which `rest.Result.Into` decodes them into.
"""

from __future__ import annotations

from engine.api.golang.forms import ANY, BOOL, BYTES, INT32, INT64, STRING, Leaf, Map, Struct
from engine.api.types import Object

_UID = Leaf("types.UID", STRING.fits)
_LIST_META = Struct(
    "ListMeta",
    {"selfLink": STRING, "resourceVersion": STRING, "continue": STRING, "remainingItemCount": INT64},
)
_CAUSE = Struct("StatusCause", {"reason": Leaf("v1.CauseType", STRING.fits), "message": STRING, "field": STRING})
_DETAILS = Struct(
    "StatusDetails",
    {"name": STRING, "group": STRING, "kind": STRING, "uid": _UID, "causes": [_CAUSE], "retryAfterSeconds": INT32},
)
_STATUS = Struct(
    "Status",
    {
        "kind": STRING,
        "apiVersion": STRING,
        "metadata": _LIST_META,
        "status": STRING,
        "message": STRING,
        "reason": Leaf("v1.StatusReason", STRING.fits),
        "details": _DETAILS,
        "code": INT32,
    },
)
_ADMITTED = Struct(
    "AdmissionResponse",
    {
        "uid": _UID,
        "allowed": BOOL,
        "status": _STATUS,
        "patch": BYTES,
        "patchType": Leaf("v1.PatchType", STRING.fits),
        "auditAnnotations": Map(STRING),
        "warnings": [STRING],
    },
)
ADMISSION_REVIEW = Struct("AdmissionReview", {"request": ANY, "response": _ADMITTED})
_CONVERTED = Struct("ConversionResponse", {"uid": _UID, "convertedObjects": [ANY], "result": _STATUS})
CONVERSION_REVIEW = Struct("ConversionReview", {"request": ANY, "response": _CONVERTED})


def details_of(status: Object) -> Object | None:
    """Of a Status, as Go writes them: without unknown fields, in its order."""
    details = status.get("details")
    if details is None:
        return None
    shown = {name: details[name] for name in _DETAILS.fields if details.get(name)}
    if "causes" in shown:
        shown["causes"] = [
            {name: cause[name] for name in _CAUSE.fields if cause.get(name)} for cause in shown["causes"]
        ]
    return shown
