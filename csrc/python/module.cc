// cuvil_edge._runtime: the runtime for Python. cuvil_edge/runtime/session.py is its only user; it checks what people
// pass.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <tuple>

#include "base/cpu_features.h"
#include "python/open_model.h"
#include "runtime/planner.h"

namespace py = pybind11;

namespace {

std::vector<std::string> cpu_features() {
  const cuvil::CpuFeatures features = cuvil::CpuFeatures::detect();
  std::vector<std::string> names;
  for (size_t i = 0; features.name(i) != nullptr; ++i) names.emplace_back(features.name(i));
  return names;
}

void check_cpu(const std::string& architecture, const std::vector<std::string>& required, const std::string& thing) {
  std::string words;
  for (const std::string& name : required) words += (words.empty() ? "" : " ") + name;
  cuvil::check(cuvil::check_cpu(cuvil::CpuFeatures::detect(), architecture, words, thing.c_str()));
}

/// Slots are (kind, first step, last step, bytes); returns (offsets, planned bytes, lower bound in bytes).
py::tuple plan_arena(const std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>>& slots,
                     uint32_t step_count) {
  std::vector<cuvil_slot> lifetimes;
  std::vector<uint64_t> bytes, offsets(slots.size());
  for (const auto& [kind, first, last, size] : slots) {
    if (first > last || last >= step_count) throw py::value_error("a slot that is live outside the steps");
    lifetimes.push_back({kind, first, last});
    bytes.push_back(size);
  }
  cuvil::ArenaPlanner planner;
  cuvil::ArenaNumbers numbers;
  cuvil::check(planner.open(lifetimes, step_count));
  cuvil::check(planner.plan(bytes, offsets, &numbers));
  return py::make_tuple(offsets, numbers.planned_bytes, numbers.lower_bound_bytes);
}

py::object& failure_class() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
  return storage
      .call_once_and_store_result([] {
        return py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
            "cuvil_edge._runtime.Failure", "A failure of the runtime: (kind, what, thing, expected, found, hint).",
            PyExc_Exception, nullptr));
      })
      .get_stored();
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const std::shared_ptr<cuvil::Failure>& failure) {
    const cuvil::ErrorText& error = failure->status.error();
    const auto text = [](const char* part) { return py::str(py::bytes(part).attr("decode")("utf-8", "replace")); };
    const py::tuple parts =
        py::make_tuple(cuvil::kind_name(failure->status.kind()), text(error.what), text(error.thing),
                       text(error.expected), text(error.found), text(error.hint));
    PyErr_SetObject(failure_class().ptr(), parts.ptr());
  }
}

}  // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The runtime of cuvil-edge; use cuvil_edge.InferenceContext.";
  module.attr("Failure") = failure_class();
  module.attr("ABI_VERSION") = CUVIL_ABI_VERSION;
  module.attr("ARCHITECTURE") = cuvil::cpu_architecture();
  py::register_local_exception_translator(translate);
  module.def("cpu_features", &cpu_features, "Features of this CPU, named as in /proc/cpuinfo.");
  module.def("check_cpu", &check_cpu, py::arg("architecture"), py::arg("required_features"), py::arg("thing"),
             "Raises Failure when this machine lacks something.");
  module.def("plan_arena", &plan_arena, py::arg("slots"), py::arg("step_count"),
             "Where the runtime puts slots (kind, first step, last step, bytes): offsets, planned bytes, lower bound.");
  py::class_<cuvil::OpenModel>(module, "OpenModel")
      .def(py::init<py::handle, py::handle, const std::string&, uint32_t, const std::vector<int>&>(),
           py::arg("library"), py::arg("weights"), py::arg("name"), py::arg("threads"), py::arg("cpus"))
      .def("output_shapes", &cuvil::OpenModel::output_shapes, py::arg("inputs"))
      .def("run", &cuvil::OpenModel::run, py::arg("inputs"), py::arg("outputs"))
      .def("profile", &cuvil::OpenModel::profile, py::arg("inputs"), py::arg("outputs"), py::arg("runs"),
           py::arg("warmup_runs"), py::arg("max_duration_ns"))
      .def("describe", &cuvil::OpenModel::describe)
      .def("memory", &cuvil::OpenModel::memory)
      .def("symbols", &cuvil::OpenModel::symbols)
      .def("close", &cuvil::OpenModel::close)
      .def_property_readonly("closed", &cuvil::OpenModel::closed);
}
