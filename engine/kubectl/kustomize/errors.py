"""How a build fails: a sentence that grows a prefix at each level that it passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.kubectl.errors import CommandError


class BuildError(CommandError):
    """A build that cannot go on."""

    def __str__(self) -> str:
        return super().__str__().removesuffix("\n")  # a message that ends its line gets no other end


class MalformedYamlError(BuildError):
    """A file that is no YAML: then it is not tried as a folder."""


@contextmanager
def within(prefix: str) -> Iterator[None]:
    """Put a prefix before what fails inside."""
    try:
        yield
    except MalformedYamlError as error:
        raise MalformedYamlError(f"{prefix}: {error}") from error
    except BuildError as error:
        raise BuildError(f"{prefix}: {error}") from error
