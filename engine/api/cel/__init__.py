"""The Common Expression Language, as Kubernetes has it: parsed, type-checked, estimated and run.

The rules of CustomResourceDefinitions, admission policies, match conditions and device selectors are written in it. Its
own implementation, for objects have types here, costs are counted, and errors are told in cel-go's words.
"""
