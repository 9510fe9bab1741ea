// SPDX-License-Identifier: Apache-2.0
// sm90_few_tokens of one dtype.
#include "cuda/linear/few_tokens.cuh"

namespace assay::ROOM(linear, few) {

KERNEL(linear) = few_tokens_traits({f16});

void run(const linear::Args& a, const Launch& l) { run_few_tokens<half>(a, l); }

}  // namespace assay::ROOM(linear, few)
