// Threads on little cores, or more threads than the quota pays for, are the two ways to be slow on every step.
#include "runtime/topology.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "check.h"

using cuvil::CpuChoice;
using cuvil::CpuRequest;
using cuvil::CpuSet;

namespace {

/// A made-up /proc and /sys in a temporary folder.
class FakeRoot {
 public:
  FakeRoot() {
    char path[] = "/tmp/cuvil-topology-XXXXXX";
    root_ = mkdtemp(path);
  }
  ~FakeRoot() {
    if (system(("rm -rf '" + root_ + "'").c_str()) != 0) perror("rm");
  }
  void write(const std::string& path, const std::string& text) {
    const std::string whole = root_ + path;
    for (size_t at = root_.size(); (at = whole.find('/', at + 1)) != std::string::npos;) {
      mkdir(whole.substr(0, at).c_str(), 0755);
    }
    if (FILE* file = fopen(whole.c_str(), "w")) {
      fputs(text.c_str(), file);
      fclose(file);
    }
  }
  const char* path() const { return root_.c_str(); }

 private:
  std::string root_;
};

void test_quotas() {
  struct {
    const char* what;
    const char* cgroup;
    const char* file;
    const char* text;
    uint32_t expected;
  } const cases[] = {
      {"v2, two CPUs", "0::/\n", "/sys/fs/cgroup/cpu.max", "200000 100000\n", 2},
      {"v2, no limit", "0::/\n", "/sys/fs/cgroup/cpu.max", "max 100000\n", 0},
      {"v2, one and a half", "0::/\n", "/sys/fs/cgroup/cpu.max", "150000 100000\n", 1},
      {"v2, a half", "0::/\n", "/sys/fs/cgroup/cpu.max", "50000 100000\n", 1},
      {"v2, an ancestor", "0::/a/b\n", "/sys/fs/cgroup/a/cpu.max", "300000 100000\n", 3},
      {"v2, own group", "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n", 4},
      {"v2, another group", "0::/a/b\n", "/sys/fs/cgroup/c/cpu.max", "100000 100000\n", 0},
      {"v2, beside v1", "1:cpu:/\n0::/x\n", "/sys/fs/cgroup/unified/x/cpu.max", "500000 100000\n", 5},
      {"v2, empty file", "0::/\n", "/sys/fs/cgroup/cpu.max", "", 0},
      {"v2, nonsense", "0::/\n", "/sys/fs/cgroup/cpu.max", "abc def\n", 0},
      {"v2, zero period", "0::/\n", "/sys/fs/cgroup/cpu.max", "100 0\n", 0},
      {"damaged cgroup file", "nonsense\n::\n", "/sys/fs/cgroup/cpu.max", "100000 100000\n", 1},
  };
  for (const auto& c : cases) {
    FakeRoot root;
    root.write("/proc/self/cgroup", c.cgroup);
    root.write(c.file, c.text);
    CHECK(cuvil::cpu_quota(root.path()) == c.expected, "%s: %u", c.what, cuvil::cpu_quota(root.path()));
  }
}

void test_version_1_quota() {
  FakeRoot root;
  root.write("/proc/self/cgroup", "4:memory:/m\n3:cpuset:/\n2:cpuacct,cpu:/docker/abc\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK(cuvil::cpu_quota(root.path()) == 3, "seen from inside a container: %u", cuvil::cpu_quota(root.path()));
  root.write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n");
  root.write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  CHECK(cuvil::cpu_quota(root.path()) == 2, "the tighter one: %u", cuvil::cpu_quota(root.path()));
  root.write("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  CHECK(cuvil::cpu_quota(root.path()) == 3, "-1 is no limit");
}

void test_nothing_is_needed() {
  FakeRoot root;
  CpuRequest request;
  request.filesystem_root = root.path();
  CpuChoice choice;
  CpuSet allowed;
  CHECK(CpuSet::of_this_thread(&allowed).ok(), "affinity");
  CHECK(cuvil::choose_cpus(request, &choice).ok(), "no /proc and no /sys");
  CHECK(choice.threads == static_cast<uint32_t>(allowed.count()) && !choice.restricted, "%u threads", choice.threads);
}

int first_cpu(const CpuSet& set) {
  int cpu = 0;
  while (!set.has(cpu)) ++cpu;
  return cpu;
}

void test_big_cores_are_preferred() {
  CpuSet allowed;
  CHECK(CpuSet::of_this_thread(&allowed).ok(), "affinity");
  if (allowed.count() < 2) return;
  const int first = first_cpu(allowed);
  FakeRoot root;
  for (int cpu = 0; cpu < CpuSet::kCapacity; ++cpu) {
    if (!allowed.has(cpu)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    root.write(folder + "/cpu_capacity", cpu == first ? "485\n" : "1024\n");
  }
  CpuRequest request;
  request.filesystem_root = root.path();
  CpuChoice choice;
  CHECK(cuvil::choose_cpus(request, &choice).ok(), "choose");
  CHECK(choice.threads == static_cast<uint32_t>(allowed.count()) - 1, "%u threads", choice.threads);
  CHECK(choice.restricted && !choice.pinned, "kept on the cluster");
  for (int cpu : choice.cpus) CHECK(cpu != first, "the little core is used");

  request.threads = static_cast<uint32_t>(allowed.count());
  CpuChoice all;
  CHECK(cuvil::choose_cpus(request, &all).ok(), "choose");
  CHECK(all.threads == request.threads && all.cpus.size() == static_cast<size_t>(allowed.count()), "all when asked");
}

void test_small_differences_are_no_cluster() {
  CpuSet allowed;
  CHECK(CpuSet::of_this_thread(&allowed).ok(), "affinity");
  FakeRoot root;
  const int first = first_cpu(allowed);
  root.write("/sys/devices/system/cpu/cpu" + std::to_string(first) + "/cpufreq/cpuinfo_max_freq", "5000000\n");
  for (int cpu = first + 1; cpu < CpuSet::kCapacity; ++cpu) {
    if (!allowed.has(cpu)) continue;
    root.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq", "4800000\n");
  }
  CpuRequest request;
  request.filesystem_root = root.path();
  CpuChoice choice;
  CHECK(cuvil::choose_cpus(request, &choice).ok(), "choose");
  CHECK(choice.threads == static_cast<uint32_t>(allowed.count()), "%u threads", choice.threads);
  request.threads = 1;
  CpuChoice one;
  CHECK(cuvil::choose_cpus(request, &one).ok() && !one.restricted, "one thread may move among CPUs that are as good");
}

void test_quota_limits_the_default_and_not_the_wish() {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  CpuRequest request;
  request.filesystem_root = root.path();
  CpuChoice choice;
  CHECK(cuvil::choose_cpus(request, &choice).ok() && choice.threads == 1, "%u threads", choice.threads);
  request.threads = 3;
  CpuChoice wish;
  CHECK(cuvil::choose_cpus(request, &wish).ok() && wish.threads == 3, "%u threads", wish.threads);
}

void test_users_cpus() {
  CpuSet allowed;
  CHECK(CpuSet::of_this_thread(&allowed).ok(), "affinity");
  const int cpu = first_cpu(allowed);
  CpuRequest request;
  request.cpus = {&cpu, 1};
  CpuChoice choice;
  CHECK(cuvil::choose_cpus(request, &choice).ok(), "choose");
  CHECK(choice.threads == 1 && choice.pinned && choice.restricted, "one thread on one CPU");
  const int twice[] = {cpu, cpu}, unknown[] = {cpu, 8191}, negative[] = {-1};
  for (std::span<const int> bad :
       {std::span<const int>(twice), std::span<const int>(unknown), std::span<const int>(negative)}) {
    request.cpus = bad;
    CpuChoice refused;
    CHECK(cuvil::choose_cpus(request, &refused).kind() == cuvil::ErrorKind::kUsage, "accepted");
  }
}

}  // namespace

int main() {
  test_quotas();
  test_version_1_quota();
  test_nothing_is_needed();
  test_big_cores_are_preferred();
  test_small_differences_are_no_cluster();
  test_quota_limits_the_default_and_not_the_wish();
  test_users_cpus();
  return cuvil::test::finish("topology");
}
