"""`-o go-template`: Go's text/template over JSON values, as far as a manifest's printing needs it.

Source of the behaviour: Go's text/template (parse and exec) and cli-runtime pkg/printers/template.go.
"""

from engine.kubectl.printers.go_template.execution import Template, TemplateError

__all__ = ["Template", "TemplateError"]
