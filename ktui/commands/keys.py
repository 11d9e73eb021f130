"""`ktui keys`: every key of the screen by its name, ready for `config.yaml`."""

from __future__ import annotations

import typer


def declare(app: typer.Typer) -> None:
    app.command("keys")(keys)


def keys() -> None:
    """Print all keys of the screen by name, as the config file takes them."""
    import platformdirs

    from ktui.keymap import as_yaml

    print(f"# {platformdirs.user_config_path('ktui') / 'config.yaml'}")
    print(as_yaml())
