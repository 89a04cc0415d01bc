// Each item exactly once, by the right worker, at all sizes; sleeping workers wake; start and stop do not hang.
#include "runtime/thread_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "check.h"

using cuvil::CpuChoice;
using cuvil::ThreadPool;

namespace {

CpuChoice threads(uint32_t count) {
  CpuChoice choice;
  choice.threads = count;
  return choice;
}

struct Work {
  std::vector<int> done;  // not atomic: a thread sanitizer must find no race on it
  std::vector<uint32_t> begin, end;
  explicit Work(uint32_t items) : done(items), begin(64, 0), end(64, 0) {}

  static void part(void* argument, uint32_t worker, uint32_t begin, uint32_t end) {
    Work* self = static_cast<Work*>(argument);
    self->begin[worker] = begin;
    self->end[worker] = end;
    for (uint32_t i = begin; i < end; ++i) ++self->done[i];
  }
};

void check_run(ThreadPool& pool, uint32_t items) {
  Work work(items);
  pool.run(items, Work::part, &work);
  for (uint32_t i = 0; i < items; ++i) CHECK(work.done[i] == 1, "item %u of %u: %d times", i, items, work.done[i]);
  uint32_t least = UINT32_MAX, most = 0;
  const uint32_t parts = std::min(items, pool.thread_count());
  for (uint32_t worker = 0; worker < parts; ++worker) {
    least = std::min(least, work.end[worker] - work.begin[worker]);
    most = std::max(most, work.end[worker] - work.begin[worker]);
  }
  CHECK(items == 0 || most - least <= 1, "%u items: parts of %u to %u", items, least, most);
}

void test_each_item_once() {
  for (uint32_t count : {1u, 2u, 3u, 7u}) {
    ThreadPool pool;
    CHECK(pool.start(threads(count)).ok() && pool.thread_count() == count, "start %u", count);
    for (uint32_t items = 0; items <= 40; ++items) check_run(pool, items);
    for (int i = 0; i < 2000; ++i) check_run(pool, 5);
  }
}

/// With no time to spin, every step goes through the sleeping path on both sides.
void test_sleeping_workers_wake() {
  ThreadPool pool;
  CHECK(pool.start(threads(3), 0).ok(), "start");
  for (int i = 0; i < 3000; ++i) check_run(pool, 6);
  usleep(2000);
  check_run(pool, 6);
}

void test_one_item_stays_on_the_caller() {
  ThreadPool pool;
  CHECK(pool.start(threads(2)).ok(), "start");
  pthread_t ran = {};
  pool.run(
      1, [](void* out, uint32_t, uint32_t, uint32_t) { *static_cast<pthread_t*>(out) = pthread_self(); }, &ran);
  CHECK(pthread_equal(ran, pthread_self()), "another thread");
}

void test_many_starts_and_stops() {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool;
    CHECK(pool.start(threads(3), i % 2 == 0 ? 0 : ThreadPool::kSpinNs).ok(), "start");
    if (i % 3 != 0) check_run(pool, 9);
    if (i % 5 == 0) pool.stop();
    check_run(pool, 4);  // after stop: on the caller alone
  }
}

void test_huge_item_counts_split_without_overflow() {
  uint64_t sum = 0;
  for (uint32_t part = 0; part < 7; ++part) {
    sum += cuvil::part_begin(UINT32_MAX, part + 1, 7) - cuvil::part_begin(UINT32_MAX, part, 7);
  }
  CHECK(sum == UINT32_MAX, "%llu", static_cast<unsigned long long>(sum));
}

/// Threads do not survive a fork: the child must be able to drop its copy.
void test_child_process_can_stop() {
#if !defined(__SANITIZE_THREAD__)
  ThreadPool pool;
  CHECK(pool.start(threads(2)).ok(), "start");
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    pool.stop();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", static_cast<unsigned>(status));
#endif
}

}  // namespace

int main() {
  test_each_item_once();
  test_sleeping_workers_wake();
  test_one_item_stays_on_the_caller();
  test_many_starts_and_stops();
  test_huge_item_counts_split_without_overflow();
  test_child_process_can_stop();
  return cuvil::test::finish("thread_pool");
}
