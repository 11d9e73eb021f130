"""`python -m ktui`: how a detached engine is started, so that it never depends on PATH."""

from ktui.cli import main

if __name__ == "__main__":
    main()
