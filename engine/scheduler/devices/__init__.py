"""Allocation of devices to ResourceClaims by structured parameters (KEP 4381).

Source: upstream's staging/src/k8s.io/dynamic-resource-allocation (structured, cel, resourceclaim). Pure: given claims,
classes, slices and what is taken, which devices of a node would the claims get?
"""
