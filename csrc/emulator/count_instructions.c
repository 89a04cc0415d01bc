/* A plugin for qemu-user that counts the instructions between marks.
 *
 * The program sets a mark with lseek(-77, N, SEEK_SET), which every kernel refuses and nobody else does: from then on,
 * instructions belong to N; 0 ends counting. Each stretch is written as a line "N instructions" to the file that the
 * plugin's argument `output` names, so that the counts of a program that crashes later are there too.
 *
 * Only instructions of the virtual CPU that set the mark are counted: the steps run on that thread.
 *
 * qemu's plugin interface (https://www.qemu.org/docs/master/devel/tcg-plugins.html) is declared here, so that no header
 * of qemu is needed; everything used is the same from interface version 1 (qemu 4.2) on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

typedef void (*vcpu_udata_cb)(unsigned int vcpu_index, void* userdata);
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void (*udata_cb)(qemu_plugin_id_t id, void* userdata);
typedef void (*syscall_cb)(qemu_plugin_id_t id, unsigned int vcpu_index, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, vcpu_udata_cb callback,
                                          enum qemu_plugin_cb_flags flags, void* userdata);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, syscall_cb callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, udata_cb callback, void* userdata);

/* qemu reads this after loading: 9.0 refuses interface version 1, and older ones refuse 2. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_version(void) {
  if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new") != NULL) qemu_plugin_version = 2;
}

enum {
  kMaxCpus = 1024,
  kLseekAarch64 = 62,
  kMarkDescriptor = -77,
};

/* One cache line each: threads of the program that wait actively count beside the one that is measured. */
struct counter {
  uint64_t executed;
  uint64_t padding[7];
};
static struct counter cpus[kMaxCpus];
static FILE* output;
static uint64_t mark;
static uint64_t executed_at_mark;

static void on_executed(unsigned int vcpu_index, void* userdata) {
  if (vcpu_index < kMaxCpus) cpus[vcpu_index].executed += (uintptr_t)userdata;
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const uintptr_t instructions = qemu_plugin_tb_n_insns(tb);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_executed, QEMU_PLUGIN_CB_NO_REGS, (void*)instructions);
}

static void on_syscall(qemu_plugin_id_t id, unsigned int vcpu_index, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number != kLseekAarch64 || (int32_t)a1 != kMarkDescriptor || vcpu_index >= kMaxCpus) return;
  const uint64_t executed = cpus[vcpu_index].executed;
  if (mark != 0) {
    fprintf(output, "%" PRIu64 " %" PRIu64 "\n", mark, executed - executed_at_mark);
    if (a2 == 0) fflush(output);
  }
  mark = a2;
  executed_at_mark = executed;
}

static void on_exit(qemu_plugin_id_t id, void* userdata) {
  (void)id, (void)userdata;
  fclose(output);
}

/* `argv` holds "key=value" texts; returns 0, or not 0 to refuse. */
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
  (void)info;
  static const char kKey[] = "output=";
  const char* path = NULL;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], kKey, sizeof kKey - 1) == 0) path = argv[i] + sizeof kKey - 1;
  }
  if (path == NULL) {
    fputs("count_instructions: the argument output=FILE is missing\n", stderr);
    return 1;
  }
  output = fopen(path, "we");
  if (output == NULL) {
    fprintf(stderr, "count_instructions: cannot write %s\n", path);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
  qemu_plugin_register_atexit_cb(id, on_exit, NULL);
  return 0;
}
