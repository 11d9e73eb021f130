"""Which of several values of a wrong type is told: sigs.k8s.io/json reads on after the first, but not after a type that
reads its JSON itself and refuses it."""

from __future__ import annotations

import pytest

from engine.api.decoding import Unfit, load_json, unmarshalled
from engine.api.schema import load_definitions
from engine.api.types import GVK

POD = GVK("", "v1", "Pod")
NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
TOLD = {
    '{"spec": {"nodeName": 1, "hostNetwork": "x"}}': (
        "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"
    ),
    '{"spec": {"nodeName": 1, "containers": [{}, {"resources": {"limits": {"cpu": "x"}}}]}}': NO_QUANTITY,
    '{"metadata": {"labels": []}, "spec": {"nodeName": 1}, "status": {"startTime": "x"}}': (
        'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'
    ),
    '{"spec": {"nodeName": 1}, "status": {"startTime": [], "phase": 1, "conditions": {}}}': (
        "json: cannot unmarshal array into Go struct field PodStatus.status.startTime of type string"
    ),
    '{"status": {"startTime": 1}, "spec": {"overhead": {"cpu": {}}}}': (
        "json: cannot unmarshal number into Go struct field PodStatus.status.startTime of type string"
    ),
}


@pytest.mark.parametrize("text", TOLD)
def test_what_is_told(text: str) -> None:
    definitions = load_definitions()
    schema = definitions.kind(POD)
    assert schema is not None
    with pytest.raises(Unfit) as raised:
        unmarshalled(definitions, schema, load_json(text.encode()), gvk=POD)
    assert str(raised.value) == TOLD[text]
