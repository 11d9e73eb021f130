"""The Textual screen and the command line. A client of `engine`, and nothing more (design, law 8)."""
