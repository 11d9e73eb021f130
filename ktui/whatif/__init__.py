"""Questions to the scheduler without a cluster: `ktui whatif`, and what it prints."""
