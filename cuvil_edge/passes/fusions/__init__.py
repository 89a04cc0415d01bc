"""One file a fusion: two operations that become one."""
