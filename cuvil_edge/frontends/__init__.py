"""Readers of the formats that users bring: each turns a model file into a graph."""
