"""Running artifacts on this machine."""
