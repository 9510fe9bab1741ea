// SPDX-License-Identifier: Apache-2.0
// CUPTI, NVIDIA's interface for profilers, opened at run time.  Empty in a build without CUPTI's headers.
#pragma once

#if defined(ASSAY_CUPTI)
#include <cupti_result.h>

#include <type_traits>

#include "cuda/core/vendor/library.hpp"

namespace assay::cuda {

const vendor::Library& cupti();
// Throws std::runtime_error with CUPTI's message if a call has failed.  `what` names the call.
void check(CUptiResult result, const char* what);

}  // namespace assay::cuda

// Declares a struct member that holds CUPTI's function of that name.
#define ASSAY_FUNCTION(name) \
  decltype(&::name) name = ::assay::cuda::cupti().function<std::remove_pointer_t<decltype(&::name)>>(#name)
#endif
