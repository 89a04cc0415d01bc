// The calling thread is worker 0: for the time of a run it must stay on the session's CPUs.
#pragma once

#include "runtime/topology.h"

namespace cuvil {

/// Binds the calling thread as the choice says, and gives it its own CPUs back at the end.
class CallerAffinity {
 public:
  explicit CallerAffinity(const CpuChoice& choice) {
    if (!choice.restricted || !CpuSet::of_this_thread(&before_).ok()) return;
    CpuSet wanted;
    for (int cpu : choice.cpus) {
      wanted.add(cpu);
      if (choice.pinned) break;
    }
    changed_ = wanted != before_ && wanted.bind_this_thread();
  }
  CallerAffinity(const CallerAffinity&) = delete;
  CallerAffinity& operator=(const CallerAffinity&) = delete;
  ~CallerAffinity() {
    if (changed_) before_.bind_this_thread();
  }

 private:
  CpuSet before_;
  bool changed_ = false;
};

}  // namespace cuvil
