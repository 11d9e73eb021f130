"""Validation rules (x-kubernetes-validations), evaluated by the CEL runtime of cel-expr-python."""
