// SPDX-License-Identifier: Apache-2.0
// CUPTI, NVIDIA's interface for profilers, opened at run time.  Of a build without its headers there is nothing here.
#pragma once

#if defined(ASSAY_CUPTI)
#include <cupti_result.h>

#include <type_traits>

#include "cuda/core/vendor/library.hpp"

namespace assay::cuda {

const vendor::Library& cupti();
// Throws std::runtime_error with CUPTI's own words.
void check(CUptiResult result, const char* what);

}  // namespace assay::cuda

// A member of a struct: the function of that name.
#define ASSAY_FUNCTION(name) \
  decltype(&::name) name = ::assay::cuda::cupti().function<std::remove_pointer_t<decltype(&::name)>>(#name)
#endif
