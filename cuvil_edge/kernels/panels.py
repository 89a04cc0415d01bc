"""Packing of the constant side of convolutions and matrix products (``csrc/kernels/matmul/tile.h``)."""

from __future__ import annotations

from math import prod

import numpy as np


def pack_panels(matrix: np.ndarray, panel_columns: int, lanes: int) -> np.ndarray:
    """[depth, columns] as panels of ``panel_columns`` columns, one after another, each [depth, its columns].

    Columns are padded with zeros to whole vectors of ``lanes``; the last panel has only the vectors that it needs.
    """
    depth, columns = matrix.shape
    padded = -(-columns // lanes) * lanes
    whole = np.zeros((depth, padded), np.float32)
    whole[:, :columns] = matrix
    parts = [whole[:, start : start + panel_columns].reshape(-1) for start in range(0, padded, panel_columns)]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def pack_matrices(stack: np.ndarray, panel_columns: int, lanes: int) -> np.ndarray:
    """[..., depth, columns]: the panels of each matrix, one matrix after another; any extent may be 0."""
    matrices = stack.reshape(prod(stack.shape[:-2]), *stack.shape[-2:])
    parts = [pack_panels(matrix, panel_columns, lanes) for matrix in matrices]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def pad_vector(vector: np.ndarray, lanes: int) -> np.ndarray:
    """A row of numbers padded with zeros to whole vectors."""
    padded = np.zeros(-(-vector.size // lanes) * lanes, np.float32)
    padded[: vector.size] = vector
    return padded
