"""What can be seen of a cluster's inside, under /debug/ktui/ (design, section 4)."""
