"""Boards (types of hardware, described in the project) and devices (machines that a user can reach)."""
