// Runs kernels on tensors from a file and writes what they leave behind: the same program natively, under sanitizers
// and under an emulator. Generated code defines kKernels.
//
//   driver CASES RESULTS            run every case with its work items in 1, 2 and 3 parts, the last part first
//   driver CASES RESULTS REPEATS    also time each case as one part: best time in ns of each case on standard output
//
// All integers are little-endian int64. CASES: count, then for each case: buffers (count; each: bytes, element bytes,
// whether it is written, and unless it is, its content), then calls (count; each: kernel index, operand count, for each
// operand buffer and byte offset; extent count, extents; work items, scratch bytes). RESULTS: for each case and each
// split: status, then the content of each written buffer.
//
// Buffers end at a page that cannot be accessed and begin after bytes whose change is noticed (status -1); under
// AddressSanitizer they are exact heap blocks instead.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "abi/cuvil_abi.h"

extern "C" const cuvil_kernel_fn kKernels[];

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr long kPage = 65536;  // of the largest page size that arm64 kernels use
constexpr unsigned char kCanary = 0xa5;

int64_t read_int(FILE* file) {
  int64_t value = 0;
  if (fread(&value, sizeof value, 1, file) != 1) abort();
  return value;
}

struct Buffer {
  int64_t bytes = 0, element_bytes = 1;
  bool written = false;
  unsigned char* mapped = nullptr;
  unsigned char* data = nullptr;
  long mapped_bytes = 0, bytes_after = 0;

  // A masked access that reaches into a guard page is right but slow, so timed runs are kept away from it.
  void allocate(bool guarded) {
    if (!guarded) bytes_after = kPage;
    if (kSanitized) {
      data = static_cast<unsigned char*>(malloc(static_cast<size_t>(bytes ? bytes : 1)));
      return;
    }
    mapped_bytes = (bytes + kPage - 1) / kPage * kPage + 2 * kPage + bytes_after;
    mapped = static_cast<unsigned char*>(
        mmap(nullptr, static_cast<size_t>(mapped_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mapped == MAP_FAILED) abort();
    if (mprotect(mapped + mapped_bytes - kPage, kPage, PROT_NONE) != 0) abort();
    data = mapped + mapped_bytes - kPage - bytes_after - bytes;
    if (!guarded) data -= reinterpret_cast<uintptr_t>(data) % CUVIL_ALIGNMENT;
  }
  void release() {
    if (kSanitized) {
      free(data);
    } else {
      munmap(mapped, static_cast<size_t>(mapped_bytes));
    }
  }
  void poison() {
    if (!kSanitized) memset(mapped, kCanary, static_cast<size_t>(data - mapped));
    if (written) memset(data, kCanary, static_cast<size_t>(bytes));
  }
  bool intact() const {
    if (kSanitized) return true;
    for (const unsigned char* p = mapped; p < data; ++p) {
      if (*p != kCanary) return false;
    }
    return true;
  }
};

struct Call {
  int64_t kernel = 0, operand_count = 0, extent_count = 0, items = 0, scratch_bytes = 0;
  int64_t operand_buffer[32], operand_offset[32];
  int64_t extents[256];
};

void read_call(FILE* file, Call* call) {
  call->kernel = read_int(file);
  call->operand_count = read_int(file);
  if (call->operand_count > 32) abort();
  for (int64_t i = 0; i < call->operand_count; ++i) {
    call->operand_buffer[i] = read_int(file);
    call->operand_offset[i] = read_int(file);
  }
  call->extent_count = read_int(file);
  if (call->extent_count > 256) abort();
  for (int64_t i = 0; i < call->extent_count; ++i) call->extents[i] = read_int(file);
  call->items = read_int(file);
  call->scratch_bytes = read_int(file);
}

cuvil_status run(const Call& call, Buffer* buffers, int64_t parts) {
  void* operands[32];
  for (int64_t i = 0; i < call.operand_count; ++i) {
    operands[i] = buffers[call.operand_buffer[i]].data + call.operand_offset[i];
  }
  int64_t* extents = static_cast<int64_t*>(malloc(sizeof(int64_t) * static_cast<size_t>(call.extent_count + 1)));
  memcpy(extents, call.extents, sizeof(int64_t) * static_cast<size_t>(call.extent_count));
  const size_t scratch_bytes = static_cast<size_t>((call.scratch_bytes + 63) / 64 * 64 + 64);
  void* scratch = aligned_alloc(CUVIL_ALIGNMENT, scratch_bytes);
  cuvil_status status = CUVIL_OK;
  for (int64_t part = parts - 1; part >= 0; --part) {
    memset(scratch, kCanary, scratch_bytes);
    const uint32_t begin = static_cast<uint32_t>(call.items * part / parts);
    const uint32_t end = static_cast<uint32_t>(call.items * (part + 1) / parts);
    if (begin == end) continue;
    const cuvil_status now = kKernels[call.kernel](operands, extents, scratch, begin, end);
    if (now != CUVIL_OK) status = now;
    const unsigned char* tail = static_cast<unsigned char*>(scratch);
    for (size_t i = static_cast<size_t>(call.scratch_bytes); i < scratch_bytes; ++i) {
      if (tail[i] != kCanary) abort();
    }
  }
  free(scratch);
  free(extents);
  return status;
}

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  FILE* cases = fopen(argv[1], "rb");
  FILE* results = fopen(argv[2], "wb");
  if (!cases || !results) return 2;
  const int repeats = argc > 3 ? atoi(argv[3]) : 0;
  const int64_t case_count = read_int(cases);
  for (int64_t index = 0; index < case_count; ++index) {
    fprintf(stderr, "case %lld\n", static_cast<long long>(index));  // the last line says which case crashed
    const int64_t buffer_count = read_int(cases);
    Buffer* buffers = static_cast<Buffer*>(malloc(sizeof(Buffer) * static_cast<size_t>(buffer_count + 1)));
    for (int64_t i = 0; i < buffer_count; ++i) {
      Buffer& buffer = buffers[i] = Buffer{};
      buffer.bytes = read_int(cases);
      buffer.element_bytes = read_int(cases);
      buffer.written = read_int(cases) != 0;
      buffer.allocate(repeats == 0);
      buffer.poison();
      if (!buffer.written &&
          fread(buffer.data, 1, static_cast<size_t>(buffer.bytes), cases) != static_cast<size_t>(buffer.bytes)) {
        return 2;
      }
    }
    const int64_t call_count = read_int(cases);
    Call* calls = static_cast<Call*>(malloc(sizeof(Call) * static_cast<size_t>(call_count + 1)));
    for (int64_t i = 0; i < call_count; ++i) read_call(cases, &calls[i]);
    for (int64_t parts = 1; parts <= 3; ++parts) {
      for (int64_t i = 0; i < buffer_count; ++i) {
        if (buffers[i].written) buffers[i].poison();
      }
      int64_t status = CUVIL_OK;
      for (int64_t i = 0; i < call_count && status == CUVIL_OK; ++i) status = run(calls[i], buffers, parts);
      for (int64_t i = 0; i < buffer_count; ++i) {
        if (!buffers[i].intact()) status = -1;
      }
      fwrite(&status, sizeof status, 1, results);
      for (int64_t i = 0; i < buffer_count; ++i) {
        if (buffers[i].written) fwrite(buffers[i].data, 1, static_cast<size_t>(buffers[i].bytes), results);
      }
    }
    if (repeats > 0) {
      int64_t best = INT64_MAX;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        const int64_t start = now_ns();
        for (int64_t i = 0; i < call_count; ++i) run(calls[i], buffers, 1);
        const int64_t duration = now_ns() - start;
        best = duration < best ? duration : best;
      }
      printf("%lld\n", static_cast<long long>(best));
    }
    for (int64_t i = 0; i < buffer_count; ++i) buffers[i].release();
    free(calls);
    free(buffers);
  }
  return fclose(results) == 0 ? 0 : 2;
}
