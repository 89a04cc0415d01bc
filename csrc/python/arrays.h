// Arrays of Python, seen through the buffer protocol.
#pragma once

#include <pybind11/pybind11.h>

#include <deque>
#include <vector>

#include "runtime/session.h"

namespace cuvil {

/// A view of a C-contiguous buffer; keeps its owner from moving it. Made and destroyed with the interpreter lock held.
class BufferView {
 public:
  /// Raises BufferError (of Python) when the object has no such buffer.
  BufferView(pybind11::handle object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw pybind11::error_already_set();
  }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ~BufferView() { PyBuffer_Release(&view_); }

  void* data() const { return view_.buf; }
  uint64_t size_bytes() const { return static_cast<uint64_t>(view_.len); }
  Shape shape() const {
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    return {reinterpret_cast<const int64_t*>(view_.shape), static_cast<size_t>(view_.ndim)};
  }
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(view_.buf), size_bytes()}; }

 private:
  Py_buffer view_;
};

/// The arrays of one run.
struct RunArrays {
  RunArrays(const pybind11::sequence& input_objects, const pybind11::sequence& output_objects) {
    for (pybind11::handle object : input_objects) {
      const BufferView& view = views.emplace_back(object, false);
      inputs.push_back({view.data(), view.size_bytes(), view.shape()});
      shapes.push_back(view.shape());
    }
    for (pybind11::handle object : output_objects) {
      const BufferView& view = views.emplace_back(object, true);
      outputs.push_back({view.data(), view.size_bytes()});
    }
  }

  std::deque<BufferView> views;
  std::vector<InputArray> inputs;
  std::vector<Shape> shapes;
  std::vector<OutputArray> outputs;
};

}  // namespace cuvil
