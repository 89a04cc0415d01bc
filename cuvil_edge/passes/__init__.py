"""Rewrites of graphs: one file a pass, named by what it does; ``pipeline`` holds their order."""
