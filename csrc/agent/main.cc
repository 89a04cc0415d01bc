// The program that runs a model on a board: one static file linked with one compiled model; see agent/server.h for what
// it speaks on its standard input and output.
//
// Sources of the agent, for whoever builds it: csrc/base/*.cc csrc/runtime/*.cc csrc/agent/*.cc (no others, no
// subfolders) with csrc/ as the only include folder, plus the objects of a model, which provide cuvil_model_query. It
// needs C++20, no exceptions, no RTTI, and no C++ library:
//   compile  zig c++ -target aarch64-linux-musl -std=c++20 -Os -fno-exceptions -fno-rtti -ffunction-sections -Icsrc -c
//   link     zig c++ -target aarch64-linux-musl -static -nostdlib++ -Wl,--gc-sections -s
// (-nostdlib++ is for linking only: with it, zig does not find the headers of the C++ library.) Always for the
// baseline CPU of the architecture: the model's objects alone are built for more, and are entered only after a check.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/arguments.h"
#include "agent/hash_files.h"
#include "agent/reply.h"
#include "agent/server.h"
#include "base/file.h"

namespace {

constexpr char kUsage[] =
    "usage: agent --weights PATH [--check-weights] [--threads N] [--cpus LIST]\n"
    "       agent --version\n"
    "       agent --sha256 FILE...\n"
    "\n"
    "Runs the model that is part of this program: JSON requests, one a line, on standard input;\n"
    "one reply a line on standard output.\n"
    "  --weights PATH    the model's weights.bin\n"
    "  --check-weights   compare the weights' SHA-256 with the model's before anything runs\n"
    "  --threads N       threads that compute (default: the CPUs of the fastest cluster, within quotas)\n"
    "  --cpus LIST       CPUs to run on, such as 4-7 or 0,2 (default: the fastest cluster)\n"
    "  --version         print what this program was built for\n"
    "  --sha256 FILE...  print the SHA-256 of files\n";

int fail(const cuvil::Status& status) {
  cuvil::Text line;
  cuvil::write_error_event(status, &line);
  (void)cuvil::send_line(&line);
  return 1;
}

int print_version() {
  cuvil::Text line;
  cuvil::write_version(cuvil_model_query(CUVIL_ABI_VERSION), &line);
  return cuvil::send_line(&line) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), not a death
  cuvil::Arguments arguments;
  if (cuvil::Status status = cuvil::parse_arguments(argc, argv, &arguments); !status.ok()) return fail(status);
  switch (arguments.action) {
    case cuvil::Arguments::Action::kHelp:
      return cuvil::write_all(STDOUT_FILENO, kUsage, strlen(kUsage)) == 0 ? 0 : 1;
    case cuvil::Arguments::Action::kVersion:
      return print_version();
    case cuvil::Arguments::Action::kHash:
      return cuvil::print_hashes(arguments.files);
    case cuvil::Arguments::Action::kServe:
      break;
  }
  cuvil::Server server;
  if (cuvil::Status status = server.open(arguments); !status.ok()) return fail(status);
  return server.serve();
}
