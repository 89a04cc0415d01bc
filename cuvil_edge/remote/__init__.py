"""Everything that happens on another machine: reaching it, knowing it, installing on it, measuring there."""
