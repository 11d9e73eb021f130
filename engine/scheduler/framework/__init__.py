"""The scheduling framework: extension points, statuses, cluster events, profiles and the runtime that drives plugins.

Source: upstream's pkg/scheduler/framework and staging/src/k8s.io/kube-scheduler/framework; KEP 624.
"""
