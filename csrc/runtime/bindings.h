// The symbols of a model, read off the extents of the inputs of a run.
#pragma once

#include <cstdint>
#include <span>

#include "abi/cuvil_abi.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

namespace cuvil {

/// The extents of one input of a run.
using Shape = std::span<const int64_t>;

/// Ok when `count` is the number of inputs of the model.
Status check_input_count(const cuvil_model& model, size_t count);

/// Fills `symbols` (symbol_count values) from the shapes of all inputs, in the model's order. An error (kind `input`)
/// names the input, the axis and the symbol, and where else the symbol was bound.
Status bind_symbols(const cuvil_model& model, std::span<const Shape> shapes, std::span<int64_t> symbols);

/// The elements of a shape; false when they do not fit in 63 bits or an extent is negative.
bool element_count(Shape shape, uint64_t* count);

/// "[N, 3, 224]": the dims of a tensor as text, symbols by name and computed extents as "?".
void append_dims(const cuvil_model& model, const cuvil_tensor& tensor, Text* out);

/// "[1, 3, 224]".
void append_shape(Shape shape, Text* out);

}  // namespace cuvil
