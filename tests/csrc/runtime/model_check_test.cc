// A compiled model that contradicts itself must be refused before any of its indices is used.
#include "runtime/model_check.h"

#include <string.h>

#include "base/memory.h"
#include "check.h"

namespace {

void check_refused(const cuvil_model& model, const char* what) {
  const cuvil::Status status = cuvil::check_model(&model);
  CHECK(status.kind() == cuvil::ErrorKind::kArtifact, "accepted: %s", what);
}

}  // namespace

int main() {
  const cuvil_model good = *cuvil_model_query(CUVIL_ABI_VERSION);
  CHECK(cuvil::check_model(&good).ok(), "the model itself");

  cuvil_model m = good;
  m.abi_version = CUVIL_ABI_VERSION + 1;
  check_refused(m, "a newer version");
  m = good;
  m.abi_version = 0;
  check_refused(m, "version 0");
  m = good;
  m.resolve = nullptr;
  check_refused(m, "no resolve");
  m = good;
  m.slots = nullptr;
  check_refused(m, "no slots");
  m = good;
  m.extent_count = 0;
  check_refused(m, "fewer extents than symbols");
  m = good;
  m.step_count = 3;  // slots live longer than the steps
  check_refused(m, "a slot beyond the steps");
  m = good;
  m.output_count = 2;
  check_refused(m, "an output slot without an output");

  cuvil_tensor inputs[3];
  const auto with_input = [&](auto change, const char* what) {
    memcpy(inputs, good.inputs, sizeof(inputs));
    change(inputs);
    m = good;
    m.inputs = inputs;
    check_refused(m, what);
  };
  static const cuvil_dim_ref kBadDims[] = {-2, 4};
  static const cuvil_dim_ref kConstantDims[] = {3, 4};
  static const cuvil_dim_ref kConstantRows[] = {3};
  with_input([](cuvil_tensor* t) { t[0].dims = kBadDims; }, "a dim that is an expression");
  with_input([](cuvil_tensor* t) { t[0].dims = kConstantDims, t[1].dims = kConstantRows; }, "a symbol of no input");
  with_input([](cuvil_tensor* t) { t[0].slot = 99; }, "a slot that does not exist");
  with_input([](cuvil_tensor* t) { t[0].slot = 3; }, "an arena slot");
  with_input([](cuvil_tensor* t) { t[0].slot = t[1].slot; }, "a slot of two inputs");
  with_input([](cuvil_tensor* t) { t[0].dtype = 77; }, "an unknown dtype");
  with_input([](cuvil_tensor* t) { t[0].name = nullptr; }, "no name");

  cuvil_symbol symbol = good.symbols[0];
  m = good;
  m.symbols = &symbol;
  symbol.multiple_of = 0;
  check_refused(m, "a multiple of 0");
  symbol = good.symbols[0];
  symbol.max = 0;
  check_refused(m, "no value between the bounds");
  return cuvil::test::finish("model_check");
}
