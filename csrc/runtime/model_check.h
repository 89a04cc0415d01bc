// Is a compiled model one that this runtime can run safely? Asked once, before anything of it is used.
#pragma once

#include "abi/cuvil_abi.h"
#include "base/status.h"

namespace cuvil {

/// Checks the version, the tables and every index in them. Does not look at the CPU.
Status check_model(const cuvil_model* model);

}  // namespace cuvil
