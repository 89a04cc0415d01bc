#include "runtime/topology.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/file.h"

namespace cuvil {
namespace {

uint64_t read_number(const char* path) {
  Text text;
  return read_small_file(path, &text) ? strtoull(text.c_str(), nullptr, 10) : 0;
}

/// Relative speed of a CPU: its capacity, or its highest clock in kHz; 0 when the machine does not tell.
uint64_t cpu_speed(const char* root, int cpu) {
  for (const char* name : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
    Text path;
    path.append_format("%s/sys/devices/system/cpu/cpu%d/%s", root, cpu, name);
    if (const uint64_t speed = path.failed() ? 0 : read_number(path.c_str()); speed != 0) return speed;
  }
  return 0;
}

struct RankedCpu {
  int cpu;
  uint64_t speed;
};

Status out_of_memory(size_t count) { return Status::out_of_memory("the list of CPUs", count * sizeof(RankedCpu)); }

Status rank_cpus(const char* root, const CpuSet& allowed, Array<RankedCpu>* ranked) {
  for (int cpu = 0; cpu < CpuSet::kCapacity; ++cpu) {
    if (allowed.has(cpu) && !ranked->push({cpu, cpu_speed(root, cpu)})) return out_of_memory(ranked->size());
  }
  std::sort(ranked->begin(), ranked->end(), [](const RankedCpu& a, const RankedCpu& b) {
    return a.speed != b.speed ? a.speed > b.speed : a.cpu < b.cpu;
  });
  return {};
}

Status take_users_cpus(const CpuRequest& request, const CpuSet& allowed, CpuChoice* choice) {
  CpuSet seen;
  for (int cpu : request.cpus) {
    const char* problem = cpu < 0 || cpu >= CpuSet::kCapacity ? "is no CPU number"
                          : seen.has(cpu)                     ? "is named twice"
                          : !allowed.has(cpu)                 ? "is not among the CPUs that this process may use"
                                                              : nullptr;
    if (problem != nullptr) {
      return Status(ErrorKind::kUsage, "cannot run on these CPUs")
          .thing("cpus")
          .found("CPU %d %s", cpu, problem)
          .hint("see the allowed CPUs with: taskset -cp $$");
    }
    seen.add(cpu);
    if (!choice->cpus.push(cpu)) return out_of_memory(choice->cpus.size());
  }
  choice->threads = request.threads != 0 ? request.threads : static_cast<uint32_t>(choice->cpus.size());
  choice->pinned = choice->threads <= choice->cpus.size();
  choice->restricted = true;
  return {};
}

/// The fastest `count` CPUs, and those that are about as fast as the slowest of them.
Status take_fastest(const Array<RankedCpu>& ranked, uint32_t count, CpuChoice* choice) {
  const uint64_t slowest = ranked[std::min<size_t>(count, ranked.size()) - 1].speed;
  for (size_t i = 0; i < ranked.size() && (i < count || ranked[i].speed * 5 >= slowest * 4); ++i) {
    if (!choice->cpus.push(ranked[i].cpu)) return out_of_memory(ranked.size());
  }
  choice->restricted = choice->cpus.size() < ranked.size();
  return {};
}

uint32_t best_cluster_size(const Array<RankedCpu>& ranked) {
  uint32_t count = 0;
  for (const RankedCpu& cpu : ranked) count += cpu.speed * 5 >= ranked[0].speed * 4;
  return count;
}

/// CPUs that a quota of `quota` µs in each `period` µs pays for.
uint32_t whole_cpus(uint64_t quota, uint64_t period) {
  return quota == 0 || period == 0 ? 0 : static_cast<uint32_t>(std::clamp<uint64_t>(quota / period, 1, UINT32_MAX));
}

/// The quota that one cgroup folder sets, of either version; 0 without a limit.
uint32_t folder_quota(const char* folder) {
  Text path, text;
  path.append_format("%s/cpu.max", folder);
  if (!path.failed() && read_small_file(path.c_str(), &text)) {
    char* end = nullptr;
    const uint64_t quota = strtoull(text.c_str(), &end, 10);  // "max 100000" has no number here
    return end == text.c_str() ? 0 : whole_cpus(quota, strtoull(end, nullptr, 10));
  }
  path.clear();
  path.append_format("%s/cpu.cfs_quota_us", folder);
  if (path.failed() || !read_small_file(path.c_str(), &text)) return 0;
  const int64_t quota = strtoll(text.c_str(), nullptr, 10);  // -1: no limit
  path.clear();
  path.append_format("%s/cpu.cfs_period_us", folder);
  return quota <= 0 || path.failed() ? 0 : whole_cpus(static_cast<uint64_t>(quota), read_number(path.c_str()));
}

uint32_t smaller_limit(uint32_t a, uint32_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

/// The tightest quota of the cgroup `group` ("/a/b") below `mount`, and of its ancestors up to the mount.
uint32_t hierarchy_quota(const char* root, const char* mount, std::string_view group) {
  uint32_t limit = 0;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.remove_suffix(1);
    Text folder;
    folder.append_format("%s%s%.*s", root, mount, static_cast<int>(group.size()), group.data());
    if (!folder.failed()) limit = smaller_limit(limit, folder_quota(folder.c_str()));
    if (group.empty()) return limit;
    group = slice(group, 0, group.rfind('/') == std::string_view::npos ? 0 : group.rfind('/'));
  }
}

bool names_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t end = std::min(controllers.find(','), controllers.size());
    if (slice(controllers, 0, end) == "cpu") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

/// The quota for one line of /proc/self/cgroup: "hierarchy:controllers:group".
uint32_t line_quota(const char* root, std::string_view line) {
  const size_t first = line.find(':');
  const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return 0;
  const std::string_view controllers = slice(line, first + 1, second - first - 1);
  const std::string_view group = slice(line, second + 1);
  uint32_t limit = 0;
  if (controllers.empty()) {
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      limit = smaller_limit(limit, hierarchy_quota(root, mount, group));
    }
  } else if (names_cpu_controller(controllers)) {
    for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
      limit = smaller_limit(limit, hierarchy_quota(root, mount, group));
    }
  }
  return limit;
}

}  // namespace

Status CpuSet::of_this_thread(CpuSet* out) {
  *out = {};
  if (syscall(SYS_sched_getaffinity, 0, sizeof(out->words_), out->words_) < 0) {
    return Status(ErrorKind::kRuntimeFailure, "cannot ask which CPUs may be used").thing("cpus").found_errno(errno);
  }
  return {};
}

bool CpuSet::bind_this_thread() const { return syscall(SYS_sched_setaffinity, 0, sizeof(words_), words_) == 0; }

int CpuSet::count() const {
  int count = 0;
  for (uint64_t word : words_) count += std::popcount(word);
  return count;
}

uint32_t cpu_quota(const char* filesystem_root) {
  Text path, text;
  path.append_format("%s/proc/self/cgroup", filesystem_root);
  if (path.failed() || !read_small_file(path.c_str(), &text)) {
    return hierarchy_quota(filesystem_root, "/sys/fs/cgroup", "");  // no /proc: the root of this namespace at least
  }
  uint32_t limit = 0;
  for (std::string_view rest = text.view(); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    limit = smaller_limit(limit, line_quota(filesystem_root, slice(rest, 0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return limit;
}

Status choose_cpus(const CpuRequest& request, CpuChoice* choice) {
  constexpr uint32_t kMaxThreads = 1024;
  if (request.threads > kMaxThreads) {
    return Status(ErrorKind::kUsage, "too many threads")
        .thing("threads")
        .expected("at most %u", kMaxThreads)
        .found("%u", request.threads);
  }
  CpuSet allowed;
  CUVIL_RETURN_IF_ERROR(CpuSet::of_this_thread(&allowed));
  if (!request.cpus.empty()) return take_users_cpus(request, allowed, choice);
  Array<RankedCpu> ranked;
  CUVIL_RETURN_IF_ERROR(rank_cpus(request.filesystem_root, allowed, &ranked));
  if (ranked.empty()) return {};
  const uint32_t quota = cpu_quota(request.filesystem_root);
  choice->threads = request.threads != 0 ? request.threads : best_cluster_size(ranked);
  if (request.threads == 0 && quota != 0) choice->threads = std::min(choice->threads, quota);
  choice->threads = std::min(choice->threads, kMaxThreads);
  return take_fastest(ranked, choice->threads, choice);
}

}  // namespace cuvil
