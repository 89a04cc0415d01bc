/* The contract between generated code and the runtime: plain C, standalone, versioned.
 *
 * A compiled model exports one function, cuvil_model_query, and is otherwise data and pure functions: it owns no
 * thread, no memory and no mutable global, and it never calls the operating system. The runtime owns all of those.
 *
 * How a run goes:
 *   1. The runtime binds the model's symbols (for example "N", "height") from the extents of the inputs it is given.
 *   2. When a symbol has changed since the last time, it calls `resolve`, which checks the constraints and fills
 *      every size that depends on symbols. The runtime then plans the arena: slots whose lifetimes do not overlap
 *      may share bytes.
 *   3. For each step in order, it splits [0, work_items) over its threads and calls `run` on each part. All parts of a
 *      step end before the next step begins.
 */
#ifndef CUVIL_ABI_H
#define CUVIL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUVIL_ABI_VERSION 1u

/* Alignment in bytes of arena slots, of the weights base and of scratch. Input and output slots are caller memory and
 * are only aligned to their element. */
#define CUVIL_ALIGNMENT 64u

/* Largest value of a symbol without an upper bound. */
#define CUVIL_UNBOUNDED INT64_MAX

typedef enum {
  CUVIL_F32 = 1,
  CUVIL_F16 = 2,
  CUVIL_BF16 = 3,
  CUVIL_F64 = 4,
  CUVIL_I8 = 5,
  CUVIL_U8 = 6,
  CUVIL_I16 = 7,
  CUVIL_U16 = 8,
  CUVIL_I32 = 9,
  CUVIL_U32 = 10,
  CUVIL_I64 = 11,
  CUVIL_U64 = 12,
  CUVIL_BOOL = 13
} cuvil_dtype;

typedef enum {
  CUVIL_OK = 0,
  CUVIL_CHECK_FAILED = 1, /* resolve: a constraint on the symbols does not hold; the message says which */
  CUVIL_BAD_INDEX = 2,    /* a step: an index in the data is outside its axis (Gather) */
  CUVIL_BAD_VALUE = 3     /* a step: a value in the data is outside its domain */
} cuvil_status;

/* An extent: a value >= 0 is the extent itself, a value < 0 refers to extents[-1 - ref]. The first symbol_count
 * extents are the symbols. */
typedef int64_t cuvil_dim_ref;

typedef struct {
  const char* name;
  int64_t min;
  int64_t max; /* inclusive; CUVIL_UNBOUNDED if there is none */
  int64_t multiple_of;
} cuvil_symbol;

/* A model input or output: a dense row-major tensor. Every dim of an input is a constant or a symbol itself (never an
 * expression), so that symbols can be read off the input extents. */
typedef struct {
  const char* name;
  uint32_t dtype; /* cuvil_dtype */
  uint32_t rank;
  const cuvil_dim_ref* dims;
  uint32_t slot;
} cuvil_tensor;

typedef enum {
  CUVIL_SLOT_ARENA = 0, /* allocated by the runtime, contents undefined before its first step */
  CUVIL_SLOT_INPUT = 1, /* the caller's memory, read only */
  CUVIL_SLOT_OUTPUT = 2 /* the caller's memory; may be written and read by several steps */
} cuvil_slot_kind;

typedef struct {
  uint32_t kind;       /* cuvil_slot_kind */
  uint32_t first_step; /* live in the closed range [first_step, last_step] */
  uint32_t last_step;
} cuvil_slot;

typedef struct {
  const int64_t* extents; /* as filled by resolve */
  void* const* slots;     /* slot_count pointers */
  const uint8_t* weights; /* the artifact's weights.bin */
  void* scratch;          /* scratch_bytes for this worker alone; contents undefined */
  uint32_t work_begin;    /* half-open part of [0, work_items) */
  uint32_t work_end;
} cuvil_step_args;

typedef cuvil_status (*cuvil_step_fn)(const cuvil_step_args* args);

typedef struct {
  const char* name;   /* the step's name, as in the manifest */
  const char* kernel; /* the kernel's name */
  cuvil_step_fn run;
} cuvil_step;

/* Memory that resolve fills; the runtime allocates it from the counts in cuvil_model. */
typedef struct {
  int64_t* extents;       /* extent_count */
  uint64_t* slot_bytes;   /* slot_count */
  uint32_t* work_items;   /* step_count; 0 means that the step has nothing to do */
  uint64_t scratch_bytes; /* for each worker */
  char* message;          /* message_bytes; a sentence, zero-terminated, when the status is not CUVIL_OK */
  uint32_t message_bytes;
} cuvil_resolved;

/* Pure and deterministic. `symbols` has symbol_count values that the runtime has checked against min, max and
 * multiple_of. */
typedef cuvil_status (*cuvil_resolve_fn)(const int64_t* symbols, cuvil_resolved* out);

typedef struct {
  uint32_t abi_version;
  const char* name;              /* the model's name */
  const char* target;            /* the target's name, as in the manifest */
  const char* arch;              /* as `uname -m` prints it: "x86_64", "aarch64" */
  const char* required_features; /* space separated, as in /proc/cpuinfo */
  uint64_t weights_bytes;
  uint8_t weights_sha256[32];
  uint32_t symbol_count;
  uint32_t extent_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t slot_count;
  uint32_t step_count;
  const cuvil_symbol* symbols;
  const cuvil_tensor* inputs;
  const cuvil_tensor* outputs;
  const cuvil_slot* slots;
  const cuvil_step* steps;
  cuvil_resolve_fn resolve;
} cuvil_model;

typedef const cuvil_model* (*cuvil_model_query_fn)(uint32_t max_abi_version);

/* The only export of a compiled model. NULL when the model's ABI is newer than max_abi_version. Safe to call on any CPU
 * of the architecture: it touches no instruction beyond the architecture's baseline. */
const cuvil_model* cuvil_model_query(uint32_t max_abi_version);

/* A kernel as generated code calls it, shared between models and found in the object cache. `operands` are the operand
 * pointers and `extents` the integers that the kernel's template documents, in that order. */
typedef cuvil_status (*cuvil_kernel_fn)(void* const* operands, const int64_t* extents, void* scratch,
                                        uint32_t work_begin, uint32_t work_end);

#ifdef __cplusplus
}
#endif
#endif
