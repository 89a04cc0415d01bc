#include "runtime/thread_pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

namespace cuvil {
namespace {

// Enough for kernels that keep small tiles on the stack; musl's default is far less, glibc's far more.
constexpr size_t kStackBytes = size_t{1} << 20;

void futex_wait(std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");  // `yield` is a no-op on most cores; this one waits for a few dozen cycles
#endif
}

/// Watches `word` until it is no longer `value` or the time is over; true in the first case.
bool spin_while_equal(const std::atomic<uint32_t>& word, uint32_t value, uint64_t spin_ns) {
  constexpr int kLooksPerClock = 16;
  const uint64_t start_ns = monotonic_ns();
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      if (word.load(std::memory_order_acquire) != value) return true;
      relax_cpu();
    }
  } while (monotonic_ns() - start_ns < spin_ns);
  return false;
}

/// Signals of the program go to its own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

/// A thread and its mailbox. Posting adds one to `mail`; `sleeps` tells the caller that a wake-up is needed.
struct alignas(64) ThreadPool::Worker {
  std::atomic<uint32_t> mail{0};
  std::atomic<uint32_t> sleeps{0};
  std::atomic<uint32_t> quits{0};
  ThreadPool* pool = nullptr;
  uint32_t index = 0;
  pthread_t thread{};
  CpuSet cpus;
  bool bound = false;
};

Status ThreadPool::start(const CpuChoice& choice, uint64_t spin_ns) {
  stop();
  spin_ns_ = spin_ns;
  owner_pid_ = getpid();
  const uint32_t count = choice.threads == 0 ? 0 : choice.threads - 1;
  if (count == 0) return {};
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Worker), count * sizeof(Worker)) != 0) {
    return Status::out_of_memory("the thread pool", count * sizeof(Worker));
  }
  workers_ = static_cast<Worker*>(memory);
  BlockedSignals blocked;
  for (uint32_t i = 0; i < count; ++i) {
    new (&workers_[i]) Worker();
    if (Status status = start_worker(i, choice); !status.ok()) {
      stop();
      return status;
    }
    ++worker_count_;
  }
  return {};
}

Status ThreadPool::start_worker(uint32_t index, const CpuChoice& choice) {
  Worker* worker = &workers_[index];
  worker->pool = this;
  worker->index = index + 1;
  if (choice.pinned) worker->cpus.add(choice.cpus[index + 1]);
  if (!choice.pinned && choice.restricted) {
    for (int cpu : choice.cpus) worker->cpus.add(cpu);
  }
  worker->bound = choice.pinned || choice.restricted;
  pthread_attr_t attributes;
  int error_number = pthread_attr_init(&attributes);
  if (error_number == 0) {
    pthread_attr_setstacksize(&attributes, kStackBytes);
    error_number = pthread_create(&worker->thread, &attributes, thread_main, worker);
    pthread_attr_destroy(&attributes);
  }
  if (error_number == 0) return {};
  return Status(ErrorKind::kOutOfMemory, "cannot start a thread")
      .thing("thread %u of %u", index + 2, choice.threads)
      .found_errno(error_number)
      .hint("use fewer threads, or raise the limit of processes (ulimit -u, pids.max)");
}

void ThreadPool::stop() {
  if (owner_pid_ == getpid()) {
    for (uint32_t i = 0; i < worker_count_; ++i) {
      workers_[i].quits.store(1, std::memory_order_relaxed);
      workers_[i].mail.fetch_add(1, std::memory_order_seq_cst);
      futex_wake(&workers_[i].mail);
    }
    for (uint32_t i = 0; i < worker_count_; ++i) pthread_join(workers_[i].thread, nullptr);
  }
  free(static_cast<void*>(workers_));
  workers_ = nullptr;
  worker_count_ = 0;
}

void* ThreadPool::thread_main(void* argument) {
  Worker* worker = static_cast<Worker*>(argument);
  char name[16];
  snprintf(name, sizeof(name), "cuvil-%u", worker->index);
  pthread_setname_np(pthread_self(), name);
  if (worker->bound) worker->cpus.bind_this_thread();
  worker->pool->work(worker);
  return nullptr;
}

void ThreadPool::work(Worker* worker) {
  uint32_t seen = 0;
  for (;;) {
    if (!spin_while_equal(worker->mail, seen, spin_ns_)) {
      // Either the caller sees `sleeps`, or this thread sees the new mail: both are sequentially consistent.
      worker->sleeps.store(1, std::memory_order_seq_cst);
      while (worker->mail.load(std::memory_order_seq_cst) == seen) futex_wait(&worker->mail, seen);
      worker->sleeps.store(0, std::memory_order_relaxed);
    }
    seen = worker->mail.load(std::memory_order_acquire);
    if (worker->quits.load(std::memory_order_relaxed) != 0) return;
    function_(argument_, worker->index, part_begin(items_, worker->index, parts_),
              part_begin(items_, worker->index + 1, parts_));
    if (unfinished_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        caller_sleeps_.load(std::memory_order_seq_cst) != 0) {
      futex_wake(&unfinished_);
    }
  }
}

void ThreadPool::run(uint32_t items, PartFunction function, void* argument) {
  const uint32_t parts = items < thread_count() ? items : thread_count();
  if (parts <= 1) {
    if (items != 0) function(argument, 0, 0, items);
    return;
  }
  items_ = items;
  parts_ = parts;
  function_ = function;
  argument_ = argument;
  unfinished_.store(parts - 1, std::memory_order_relaxed);
  for (uint32_t i = 0; i + 1 < parts; ++i) {
    workers_[i].mail.fetch_add(1, std::memory_order_seq_cst);
    if (workers_[i].sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(&workers_[i].mail);
  }
  function(argument, 0, 0, part_begin(items, 1, parts));
  wait_for_workers();
}

void ThreadPool::wait_for_workers() {
  const uint64_t start_ns = monotonic_ns();
  uint32_t left = unfinished_.load(std::memory_order_acquire);
  while (left != 0 && monotonic_ns() - start_ns < spin_ns_) {
    spin_while_equal(unfinished_, left, spin_ns_);
    left = unfinished_.load(std::memory_order_acquire);
  }
  if (left == 0) return;
  caller_sleeps_.store(1, std::memory_order_seq_cst);
  while ((left = unfinished_.load(std::memory_order_seq_cst)) != 0) futex_wait(&unfinished_, left);
  caller_sleeps_.store(0, std::memory_order_relaxed);
}

}  // namespace cuvil
