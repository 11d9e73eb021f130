"""What /metrics and /metrics/resources print, under upstream's names."""
