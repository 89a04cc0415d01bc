/* A model by hand, for tests of the runtime: what a compiler would emit for
 *
 *   scaled  = image * weights * scale[:, None]        image: f32 [N, 4], scale: f32 [N], weights: f32 [4]
 *   relu    = max(scaled, 0)
 *   picked  = relu[row]                               row: i64 []; refuses a row outside [0, N)
 *   sums    = relu.sum(axis=1)                        output that a later step reads
 *   total   = sums.sum()
 *
 * with 1 <= N <= 64. N == 13 fails a check; N == 61 asks for more scratch than any machine has; N == 60 asks for an
 * arena of that size. -DFAKE_ARCH=, -DFAKE_FEATURES= and -DFAKE_ABI= change what it claims to need.
 */
#include <stdio.h>
#include <string.h>

#include "abi/cuvil_abi.h"

#ifndef FAKE_ARCH
#ifdef __aarch64__
#define FAKE_ARCH "aarch64"
#else
#define FAKE_ARCH "x86_64"
#endif
#endif
#ifndef FAKE_FEATURES
#define FAKE_FEATURES ""
#endif
#ifndef FAKE_ABI
#define FAKE_ABI CUVIL_ABI_VERSION
#endif

enum { kImage, kScale, kRow, kScaled, kRelu, kPicked, kSums, kTotal, kSlotCount };
enum { kColumns = 4 };

static const cuvil_symbol kSymbols[] = {{"N", 1, 64, 1}};

static const cuvil_dim_ref kImageDims[] = {-1, kColumns};
static const cuvil_dim_ref kRowsDims[] = {-1};
static const cuvil_dim_ref kPickedDims[] = {kColumns};
static const cuvil_dim_ref kTotalDims[] = {1};

static const cuvil_tensor kInputs[] = {
    {"image", CUVIL_F32, 2, kImageDims, kImage},
    {"scale", CUVIL_F32, 1, kRowsDims, kScale},
    {"row", CUVIL_I64, 0, 0, kRow},
};
static const cuvil_tensor kOutputs[] = {
    {"picked", CUVIL_F32, 1, kPickedDims, kPicked},
    {"sums", CUVIL_F32, 1, kRowsDims, kSums},
    {"total", CUVIL_F32, 1, kTotalDims, kTotal},
};
static const cuvil_slot kSlots[kSlotCount] = {
    {CUVIL_SLOT_INPUT, 0, 0}, {CUVIL_SLOT_INPUT, 0, 0},  {CUVIL_SLOT_INPUT, 2, 2},  {CUVIL_SLOT_ARENA, 0, 1},
    {CUVIL_SLOT_ARENA, 1, 3}, {CUVIL_SLOT_OUTPUT, 2, 2}, {CUVIL_SLOT_OUTPUT, 3, 4}, {CUVIL_SLOT_OUTPUT, 4, 4},
};

static cuvil_status scale_rows(const cuvil_step_args* a) {
  const float* image = a->slots[kImage];
  const float* scale = a->slots[kScale];
  const float* weights = (const float*)a->weights;
  float* out = a->slots[kScaled];
  for (uint32_t n = a->work_begin; n < a->work_end; ++n) {
    for (int c = 0; c < kColumns; ++c) out[n * kColumns + c] = image[n * kColumns + c] * weights[c] * scale[n];
  }
  return CUVIL_OK;
}

/* Goes through scratch, so that workers that shared it would spoil each other's rows. */
static cuvil_status relu(const cuvil_step_args* a) {
  const float* in = a->slots[kScaled];
  float* out = a->slots[kRelu];
  float* scratch = a->scratch;
  for (uint32_t n = a->work_begin; n < a->work_end; ++n) {
    memcpy(scratch, in + n * kColumns, kColumns * sizeof(float));
    for (int c = 0; c < kColumns; ++c) out[n * kColumns + c] = scratch[c] > 0 ? scratch[c] : 0;
  }
  return CUVIL_OK;
}

static cuvil_status pick(const cuvil_step_args* a) {
  const float* in = a->slots[kRelu];
  const int64_t row = *(const int64_t*)a->slots[kRow];
  if (row < 0 || row >= a->extents[0]) return CUVIL_BAD_INDEX;
  memcpy(a->slots[kPicked], in + row * kColumns, kColumns * sizeof(float));
  return CUVIL_OK;
}

static cuvil_status sum_rows(const cuvil_step_args* a) {
  const float* in = a->slots[kRelu];
  float* out = a->slots[kSums];
  for (uint32_t n = a->work_begin; n < a->work_end; ++n) {
    out[n] = 0;
    for (int c = 0; c < kColumns; ++c) out[n] += in[n * kColumns + c];
  }
  return CUVIL_OK;
}

static cuvil_status sum_all(const cuvil_step_args* a) {
  const float* sums = a->slots[kSums];
  float* out = a->slots[kTotal];
  out[0] = 0;
  for (int64_t n = 0; n < a->extents[0]; ++n) out[0] += sums[n];
  return CUVIL_OK;
}

static const cuvil_step kSteps[] = {
    {"Mul_0", "scale_rows", scale_rows}, {"Relu_1", "relu", relu},
    {"Gather_2", "pick", pick},          {"ReduceSum_3", "sum_rows", sum_rows},
    {"ReduceSum_4", "sum_all", sum_all},
};

static cuvil_status resolve(const int64_t* symbols, cuvil_resolved* out) {
  const int64_t n = symbols[0];
  const uint64_t row_bytes = kColumns * sizeof(float);
  const uint64_t too_much = (uint64_t)1 << 50;
  out->extents[0] = n;
  if (n == 13) {
    snprintf(out->message, out->message_bytes, "N must not be 13 (node Check_0)");
    return CUVIL_CHECK_FAILED;
  }
  out->slot_bytes[kImage] = (uint64_t)n * row_bytes;
  out->slot_bytes[kScale] = (uint64_t)n * sizeof(float);
  out->slot_bytes[kRow] = sizeof(int64_t);
  out->slot_bytes[kScaled] = n == 60 ? too_much : (uint64_t)n * row_bytes;
  out->slot_bytes[kRelu] = (uint64_t)n * row_bytes;
  out->slot_bytes[kPicked] = row_bytes;
  out->slot_bytes[kSums] = (uint64_t)n * sizeof(float);
  out->slot_bytes[kTotal] = sizeof(float);
  out->work_items[0] = out->work_items[1] = out->work_items[3] = (uint32_t)n;
  out->work_items[2] = out->work_items[4] = 1;
  out->scratch_bytes = n == 61 ? too_much : row_bytes;
  return CUVIL_OK;
}

static const cuvil_model kModel = {
    .abi_version = FAKE_ABI,
    .name = "fake",
    .target = "test",
    .arch = FAKE_ARCH,
    .required_features = FAKE_FEATURES,
    .weights_bytes = kColumns * sizeof(float),
    /* of the f32 values 1, 2, 3, 4 */
    .weights_sha256 = {0xad, 0x73, 0xb9, 0xac, 0xd6, 0xe4, 0xa7, 0x4b, 0x2f, 0x5b, 0xb5, 0x38, 0x66, 0x58, 0xce, 0x3b,
                       0xb1, 0x46, 0xcd, 0x04, 0x0a, 0x18, 0x67, 0x64, 0x6a, 0xb3, 0xb9, 0x73, 0xfb, 0x66, 0x32, 0xb1},
    .symbol_count = 1,
    .extent_count = 1,
    .input_count = 3,
    .output_count = 3,
    .slot_count = kSlotCount,
    .step_count = sizeof(kSteps) / sizeof(kSteps[0]),
    .symbols = kSymbols,
    .inputs = kInputs,
    .outputs = kOutputs,
    .slots = kSlots,
    .steps = kSteps,
    .resolve = resolve,
};

const cuvil_model* cuvil_model_query(uint32_t max_abi_version) {
  return kModel.abi_version <= max_abi_version ? &kModel : 0;
}
