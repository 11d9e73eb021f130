"""What the scheduler knows of nodes and pods: the live cache with assumed pods, and the snapshot of one attempt."""
