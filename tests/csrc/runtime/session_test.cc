// A session must answer right at every shape and thread count, and refuse everything else with words.
#include "runtime/session.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "check.h"
#include "runtime/fake_run.h"
#include "runtime/profiler.h"

using cuvil::CpuRequest;
using cuvil::ErrorKind;
using cuvil::Owned;
using cuvil::Session;
using cuvil::Status;
using cuvil::test::FakeRun;

namespace {

Owned<Session> open(uint32_t threads) {
  CpuRequest cpus;
  cpus.threads = threads;
  Owned<Session> session;
  const Status status = Session::open(cuvil_model_query(CUVIL_ABI_VERSION), cuvil::test::weights(), cpus, &session);
  CHECK(status.ok(), "open: %s", status.ok() ? "" : status.error().what);
  return session;
}

void check_right(Session& session, FakeRun& run) {
  run.forget();
  const Status status = session.run(run.inputs(), run.outputs());
  CHECK(status.ok(), "run: %s, %s", status.error().what, status.error().found);
  CHECK(run.right(), "wrong answer");
}

/// `words` must be in the message, `kind` its kind.
void check_refused(const Status& status, ErrorKind kind, const char* words) {
  if (status.ok()) {
    CHECK(false, "not refused: %s", words);
    return;
  }
  const cuvil::ErrorText& e = status.error();
  const std::string text = std::string(e.what) + "|" + e.thing + "|" + e.expected + "|" + e.found + "|" + e.hint;
  CHECK(status.kind() == kind, "%s: kind %s", text.c_str(), cuvil::kind_name(status.kind()));
  CHECK(text.find(words) != std::string::npos, "%s: lacks %s", text.c_str(), words);
}

void test_right_at_all_shapes() {
  for (uint32_t threads : {1u, 2u, 5u}) {
    Owned<Session> session = open(threads);
    CHECK(session->thread_count() == threads, "threads");
    for (int64_t rows : {1, 2, 64, 3, 64, 1, 14}) {
      FakeRun run(rows, rows / 2);
      check_right(*session, run);
      check_right(*session, run);
    }
  }
}

void test_output_shapes_and_memory() {
  Owned<Session> session = open(1);
  CHECK(session->memory().arena_bytes == 0, "no arena before the first shapes");
  FakeRun run(9);
  cuvil::Array<int64_t> extents;
  CHECK(session->output_shapes(run.shapes(), &extents).ok(), "shapes");
  CHECK(extents.size() == 3 && extents[0] == 4 && extents[1] == 9 && extents[2] == 1, "extents");
  const cuvil::SessionMemory memory = session->memory();
  CHECK(memory.arena_bytes == 2 * 192 && memory.arena_lower_bound_bytes == 2 * 192, "two live buffers of 144 bytes");
  CHECK(memory.weights_bytes == 16, "weights");
  cuvil::Array<int64_t> symbols;
  CHECK(session->symbols(&symbols).ok() && symbols.size() == 1 && symbols[0] == 9, "symbols");
}

void test_wrong_inputs_are_named() {
  Owned<Session> session = open(2);
  FakeRun run(5);
  const auto inputs = run.inputs();
  const auto outputs = run.outputs();
  const int64_t six[] = {6}, five_five[] = {5, 5}, negative[] = {-1, 4}, zero[] = {0, 4};

  auto bad = inputs;
  bad[1].shape = six;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "input scale, axis 0 (symbol N)");
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "5, as in input image, axis 0");
  bad = inputs;
  bad[0].shape = five_five;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "input image, axis 1");
  bad[0].shape = six;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "[N, 4]");
  bad[0].shape = negative;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "impossible shape");
  bad[0].shape = zero;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "1 to 64");
  bad = inputs;
  bad[0].size_bytes -= 4;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "80 bytes of f32");
  bad = inputs;
  bad[0].data = static_cast<const char*>(bad[0].data) + 1;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "not aligned");
  bad[0].data = nullptr;
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "image");
  bad.pop_back();
  check_refused(session->run(bad, outputs), ErrorKind::kInput, "wrong number of inputs");
  check_refused(session->run(inputs, {}), ErrorKind::kInput, "wrong number of outputs");
  auto shared = outputs;
  shared[0].data = const_cast<void*>(inputs[0].data);
  check_refused(session->run(inputs, shared), ErrorKind::kInput, "shares memory with input image");
  shared = outputs;
  shared[2].data = shared[1].data;
  check_refused(session->run(inputs, shared), ErrorKind::kInput, "shares memory with output sums");
  check_right(*session, run);
}

void test_model_refuses() {
  Owned<Session> session = open(2);
  FakeRun good(5), unlucky(13), bad_row(5, 5), negative_row(5, -1), greedy(60), scratchy(61), many(65);
  check_right(*session, good);
  check_refused(session->run(unlucky.inputs(), unlucky.outputs()), ErrorKind::kShape, "N must not be 13");
  check_refused(session->run(unlucky.inputs(), unlucky.outputs()), ErrorKind::kShape, "N must not be 13");  // again
  check_refused(session->run(bad_row.inputs(), bad_row.outputs()), ErrorKind::kRuntimeFailure, "step Gather_2");
  check_refused(session->run(negative_row.inputs(), negative_row.outputs()), ErrorKind::kRuntimeFailure, "index");
  check_right(*session, good);
  check_refused(session->run(greedy.inputs(), greedy.outputs()), ErrorKind::kOutOfMemory, "arena");
  check_right(*session, good);
  check_refused(session->run(scratchy.inputs(), scratchy.outputs()), ErrorKind::kOutOfMemory, "scratch");
  check_right(*session, good);
  check_refused(session->run(many.inputs(), many.outputs()), ErrorKind::kInput, "symbol N");
}

void test_profile_and_marks() {
  Owned<Session> session = open(2);
  FakeRun run(7);
  uint64_t start[5], duration[5], wall = 0;
  CHECK(session->run_profiled(run.inputs(), run.outputs(), {start, duration}, &wall).ok(), "profiled");
  CHECK(run.right(), "wrong answer");
  uint64_t end = 0;
  for (int i = 0; i < 5; ++i) {
    CHECK(start[i] >= end, "step %d starts before its predecessor ends", i);
    end = start[i] + duration[i];
  }
  CHECK(end <= wall, "the last step ends after the run");
  run.forget();
  CHECK(session->run(run.inputs(), run.outputs(), cuvil::RunMode::kMarked).ok() && run.right(), "marked");
  cuvil::ProfileRequest request;
  request.runs = 4;
  cuvil::ProfileTimes times;
  CHECK(cuvil::profile_runs(session.get(), run.inputs(), run.outputs(), request, &times).ok(), "profile");
  CHECK(times.runs == 4 && times.step_duration_ns.size() == 20, "table");
  request.max_duration_ns = 1;
  cuvil::ProfileTimes short_times;
  CHECK(cuvil::profile_runs(session.get(), run.inputs(), run.outputs(), request, &short_times).ok(), "profile");
  CHECK(short_times.runs == 1, "one run at least, none after the time is over: %llu",
        static_cast<unsigned long long>(short_times.runs));
  request.runs = INT64_MAX / 2;
  check_refused(cuvil::profile_runs(session.get(), run.inputs(), run.outputs(), request, &times), ErrorKind::kUsage,
                "too many runs");
}

/// Other shapes from other threads: each must see its own answer.
void test_threads_share_a_session() {
  Owned<Session> session = open(2);
  struct Caller {
    Session* session;
    int64_t rows;
    bool right;
  } callers[3] = {{session.get(), 3, true}, {session.get(), 8, true}, {session.get(), 3, true}};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    pthread_create(
        &threads[i], nullptr,
        [](void* argument) -> void* {
          Caller* caller = static_cast<Caller*>(argument);
          for (int k = 0; k < 200; ++k) {
            FakeRun run(caller->rows, 1);
            caller->right = caller->right && caller->session->run(run.inputs(), run.outputs()).ok() && run.right();
          }
          return nullptr;
        },
        &callers[i]);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], nullptr);
  for (const Caller& caller : callers) CHECK(caller.right, "rows %lld", static_cast<long long>(caller.rows));
}

void test_child_process_is_told() {
#if !defined(__SANITIZE_THREAD__)
  Owned<Session> session = open(2);
  FakeRun run(3);
  check_right(*session, run);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const Status status = session->run(run.inputs(), run.outputs());
    const bool told = status.kind() == ErrorKind::kRuntimeFailure && strstr(status.error().hint, "fork") != nullptr;
    session.reset();
    _exit(told ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", static_cast<unsigned>(status));
  check_right(*session, run);
#endif
}

void test_wrong_weights() {
  Owned<Session> session;
  const auto weights = cuvil::test::weights();
  const cuvil_model* model = cuvil_model_query(CUVIL_ABI_VERSION);
  check_refused(Session::open(model, weights.first(12), {}, &session), ErrorKind::kArtifact, "16 bytes");
  check_refused(Session::open(nullptr, weights, {}, &session), ErrorKind::kArtifact, "version");
  alignas(64) uint8_t shifted[64];
  check_refused(Session::open(model, {shifted + 4, 16}, {}, &session), ErrorKind::kArtifact, "aligned");
}

void test_caller_gets_its_cpus_back() {
  cuvil::CpuSet before, after;
  CHECK(cuvil::CpuSet::of_this_thread(&before).ok(), "affinity");
  int cpu = 0;
  while (!before.has(cpu)) ++cpu;
  CpuRequest cpus;
  cpus.cpus = {&cpu, 1};
  Owned<Session> session;
  CHECK(Session::open(cuvil_model_query(CUVIL_ABI_VERSION), cuvil::test::weights(), cpus, &session).ok(), "open");
  FakeRun run(3);
  check_right(*session, run);
  CHECK(cuvil::CpuSet::of_this_thread(&after).ok() && before == after, "the caller stays pinned");
}

}  // namespace

int main() {
  test_right_at_all_shapes();
  test_output_shapes_and_memory();
  test_wrong_inputs_are_named();
  test_model_refuses();
  test_profile_and_marks();
  test_threads_share_a_session();
  test_child_process_is_told();
  test_wrong_weights();
  test_caller_gets_its_cpus_back();
  return cuvil::test::finish("session");
}
