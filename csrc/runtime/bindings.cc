#include "runtime/bindings.h"

namespace cuvil {
namespace {

constexpr int64_t kUnbound = -1;

Status wrong_shape(const cuvil_model& model, const cuvil_tensor& input, Shape shape, const char* what) {
  Text expected, found;
  append_dims(model, input, &expected);
  append_shape(shape, &found);
  return Status(ErrorKind::kInput, what)
      .thing("input %s", input.name)
      .expected("shape %s", expected.c_str())
      .found("shape %s", found.c_str());
}

Status check_constant(const cuvil_tensor& input, uint32_t axis, int64_t extent) {
  if (extent == input.dims[axis]) return {};
  return Status(ErrorKind::kInput, "wrong extent")
      .thing("input %s, axis %u", input.name, axis)
      .expected("%lld", static_cast<long long>(input.dims[axis]))
      .found("%lld", static_cast<long long>(extent))
      .hint("the model fixes this axis: resize or crop the input");
}

Status check_bounds(const cuvil_symbol& symbol, const cuvil_tensor& input, uint32_t axis, int64_t extent) {
  const bool bounded = symbol.max != CUVIL_UNBOUNDED;
  if (extent >= symbol.min && extent <= symbol.max && extent % symbol.multiple_of == 0) return {};
  Text expected;
  if (bounded) {
    expected.append_format("%lld to %lld", static_cast<long long>(symbol.min), static_cast<long long>(symbol.max));
  } else {
    expected.append_format("at least %lld", static_cast<long long>(symbol.min));
  }
  if (symbol.multiple_of != 1) {
    expected.append_format(", a multiple of %lld", static_cast<long long>(symbol.multiple_of));
  }
  return Status(ErrorKind::kInput, "extent out of bounds")
      .thing("input %s, axis %u (symbol %s)", input.name, axis, symbol.name)
      .expected("%s", expected.c_str())
      .found("%lld", static_cast<long long>(extent));
}

/// Where the symbol got its value: the first axis of the first input that has it.
void find_binding(const cuvil_model& model, cuvil_dim_ref dim, const char** name, uint32_t* axis) {
  for (uint32_t i = 0; i < model.input_count; ++i) {
    for (uint32_t a = 0; a < model.inputs[i].rank; ++a) {
      if (model.inputs[i].dims[a] != dim) continue;
      *name = model.inputs[i].name;
      *axis = a;
      return;
    }
  }
}

Status bind_axis(const cuvil_model& model, const cuvil_tensor& input, uint32_t axis, int64_t extent,
                 std::span<int64_t> symbols) {
  const cuvil_dim_ref dim = input.dims[axis];
  if (dim >= 0) return check_constant(input, axis, extent);
  const size_t index = static_cast<size_t>(-1 - dim);
  const cuvil_symbol& symbol = model.symbols[index];
  if (symbols[index] == kUnbound) {
    symbols[index] = extent;
    return check_bounds(symbol, input, axis, extent);
  }
  if (symbols[index] == extent) return {};
  const char* other_name = input.name;
  uint32_t other_axis = axis;
  find_binding(model, dim, &other_name, &other_axis);
  return Status(ErrorKind::kInput, "extents that must be equal differ")
      .thing("input %s, axis %u (symbol %s)", input.name, axis, symbol.name)
      .expected("%lld, as in input %s, axis %u", static_cast<long long>(symbols[index]), other_name, other_axis)
      .found("%lld", static_cast<long long>(extent));
}

}  // namespace

Status check_input_count(const cuvil_model& model, size_t count) {
  if (count == model.input_count) return {};
  return Status(ErrorKind::kInput, "wrong number of inputs")
      .thing("model %s", model.name)
      .expected("%u", model.input_count)
      .found("%llu", static_cast<unsigned long long>(count));
}

Status bind_symbols(const cuvil_model& model, std::span<const Shape> shapes, std::span<int64_t> symbols) {
  CUVIL_RETURN_IF_ERROR(check_input_count(model, shapes.size()));
  for (int64_t& symbol : symbols) symbol = kUnbound;
  for (uint32_t i = 0; i < model.input_count; ++i) {
    const cuvil_tensor& input = model.inputs[i];
    if (shapes[i].size() != input.rank) return wrong_shape(model, input, shapes[i], "wrong rank");
    uint64_t count = 0;
    if (!element_count(shapes[i], &count)) return wrong_shape(model, input, shapes[i], "impossible shape");
    for (uint32_t axis = 0; axis < input.rank; ++axis) {
      CUVIL_RETURN_IF_ERROR(bind_axis(model, input, axis, shapes[i][axis], symbols));
    }
  }
  return {};
}

bool element_count(Shape shape, uint64_t* count) {
  *count = 1;
  bool fits = true, empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) return false;
    empty |= extent == 0;
    fits = fits && checked_multiply(*count, static_cast<uint64_t>(extent), count);
  }
  if (empty) *count = 0;
  return empty || (fits && *count <= INT64_MAX);
}

void append_dims(const cuvil_model& model, const cuvil_tensor& tensor, Text* out) {
  out->append('[');
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    if (axis != 0) out->append(", ");
    const int64_t dim = tensor.dims[axis];
    if (dim >= 0) {
      out->append_format("%lld", static_cast<long long>(dim));
    } else {
      out->append(-1 - dim < int64_t{model.symbol_count} ? model.symbols[-1 - dim].name : "?");
    }
  }
  out->append(']');
}

void append_shape(Shape shape, Text* out) {
  out->append('[');
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    out->append_format(axis == 0 ? "%lld" : ", %lld", static_cast<long long>(shape[axis]));
  }
  out->append(']');
}

}  // namespace cuvil
