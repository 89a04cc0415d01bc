"""The file format of a compiled model, and nothing else."""
