"""`describe`: one object in words, with what belongs to it (kubectl pkg/describe)."""
