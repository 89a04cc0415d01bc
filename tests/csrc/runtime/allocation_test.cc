// Memory runs out at any place: always an error, never a crash, and the session works when there is memory again. And:
// after the first run at a shape, nothing is allocated. The linker puts the functions below before the real ones.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

#include "check.h"
#include "runtime/fake_run.h"
#include "runtime/profiler.h"

namespace {

std::atomic<long> g_calls{0};
std::atomic<long> g_fail_at{-1};  // the call that fails; -1: none

bool refuse() { return g_calls.fetch_add(1) == g_fail_at.load(); }

void fail_at(long call) {
  g_calls = 0;
  g_fail_at = call;
}

}  // namespace

extern "C" {
void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_realloc(void*, size_t);
int __real_posix_memalign(void**, size_t, size_t);
void* __real_mmap(void*, size_t, int, int, int, off_t);
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

void* __wrap_malloc(size_t n) { return refuse() ? nullptr : __real_malloc(n); }
void* __wrap_calloc(size_t n, size_t size) { return refuse() ? nullptr : __real_calloc(n, size); }
void* __wrap_realloc(void* p, size_t n) { return refuse() ? nullptr : __real_realloc(p, n); }
int __wrap_posix_memalign(void** p, size_t a, size_t n) { return refuse() ? ENOMEM : __real_posix_memalign(p, a, n); }
void* __wrap_mmap(void* p, size_t n, int protection, int flags, int fd, off_t offset) {
  if (!refuse()) return __real_mmap(p, n, protection, flags, fd, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
int __wrap_pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*f)(void*), void* x) {
  return refuse() ? EAGAIN : __real_pthread_create(t, a, f, x);
}
}

using cuvil::ErrorKind;
using cuvil::Owned;
using cuvil::Session;
using cuvil::Status;
using cuvil::test::FakeRun;

namespace {

/// Opens, runs at two shapes and profiles.
Status whole_life(FakeRun& small, FakeRun& big, bool* right) {
  cuvil::CpuRequest cpus;
  cpus.threads = 3;
  Owned<Session> session;
  CUVIL_RETURN_IF_ERROR(Session::open(cuvil_model_query(CUVIL_ABI_VERSION), cuvil::test::weights(), cpus, &session));
  const auto small_in = small.inputs(), big_in = big.inputs();
  const auto small_out = small.outputs(), big_out = big.outputs();
  CUVIL_RETURN_IF_ERROR(session->run(small_in, small_out));
  Status first = session->run(big_in, big_out);
  if (!first.ok()) {
    // The failure hit the growth of the arena: with memory again the same session must go on.
    const long calls = g_calls.load();
    fail_at(-1);
    const bool again = session->run(big_in, big_out).ok() && big.right();
    CHECK(again, "the session does not recover from call %ld", calls);
    return first;
  }
  cuvil::ProfileRequest request;
  request.runs = 2;
  cuvil::ProfileTimes times;
  CUVIL_RETURN_IF_ERROR(cuvil::profile_runs(session.get(), big_in, big_out, request, &times));
  *right = small.right() && big.right();
  return {};
}

void test_every_allocation_may_fail() {
  long failures = 0;
  for (long call = 0;; ++call) {
    CHECK(call < 10000, "no end of allocations");
    FakeRun small(2), big(50);
    bool right = false;
    fail_at(call);
    const Status status = whole_life(small, big, &right);
    const bool reached = g_calls.load() > call;
    fail_at(-1);
    if (!status.ok()) {
      ++failures;
      CHECK(status.kind() == ErrorKind::kOutOfMemory, "call %ld: %s", call, cuvil::kind_name(status.kind()));
      CHECK(status.error().what[0] != 0, "no words");
    } else {
      CHECK(right, "call %ld: wrong answer without an error", call);
    }
    if (status.ok() && !reached) break;
  }
  CHECK(failures > 10, "only %ld failures: are the functions wrapped?", failures);
}

void test_no_allocation_after_the_first_run_at_a_shape() {
  cuvil::CpuRequest cpus;
  cpus.threads = 2;
  Owned<Session> session;
  CHECK(Session::open(cuvil_model_query(CUVIL_ABI_VERSION), cuvil::test::weights(), cpus, &session).ok(), "open");
  FakeRun small(5), big(40);
  const auto small_in = small.inputs(), big_in = big.inputs();
  const auto small_out = small.outputs(), big_out = big.outputs();
  CHECK(session->run(big_in, big_out).ok(), "first");
  fail_at(-1);
  for (int i = 0; i < 50; ++i) {
    CHECK(session->run(small_in, small_out).ok(), "small");
    CHECK(session->run(big_in, big_out).ok(), "big");
  }
  CHECK(g_calls.load() == 0, "%ld allocations", g_calls.load());
}

}  // namespace

int main() {
  test_every_allocation_may_fail();
  test_no_allocation_after_the_first_run_at_a_shape();
  return cuvil::test::finish("allocation");
}
