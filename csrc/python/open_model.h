// A session together with what it stands on, for Python: usable from several threads, closed once.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "python/arrays.h"
#include "python/library.h"
#include "runtime/profiler.h"
#include "runtime/session.h"

namespace cuvil {

/// What went wrong, on its way to Python.
struct Failure {
  Status status;
};

inline void check(Status status) {
  if (!status.ok()) throw std::make_shared<Failure>(Failure{std::move(status)});
}

/// Waiting and computing happen without the interpreter lock. Runs happen one after the other (the session's mutex);
/// `close` waits for those that have begun, and those that come later are told that the model is closed.
class OpenModel {
 public:
  OpenModel(pybind11::handle library, pybind11::handle weights, const std::string& name, uint32_t threads,
            const std::vector<int>& cpus);
  ~OpenModel() { close(); }

  std::vector<pybind11::tuple> output_shapes(const pybind11::sequence& inputs);
  void run(const pybind11::sequence& inputs, const pybind11::sequence& outputs);
  pybind11::dict profile(const pybind11::sequence& inputs, const pybind11::sequence& outputs, int64_t runs,
                         int64_t warmup_runs, int64_t max_duration_ns);
  pybind11::dict describe();
  pybind11::dict memory();
  pybind11::dict symbols();
  void close();
  bool closed() const { return closing_.load(); }

 private:
  template <class Use>
  void use(Use use);

  std::shared_mutex lifetime_;  // held shared by everything that uses the session, exclusively by `close`
  std::atomic<bool> closing_{false};
  const int owner_pid_ = getpid();
  std::string name_;
  std::optional<BufferView> weights_;
  std::unique_ptr<Library> library_;
  Owned<Session> session_;
};

}  // namespace cuvil
