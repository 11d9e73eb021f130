"""Well-known labels that more than one controller reads (k8s.io/api/core/v1 well_known_labels.go)."""

ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
