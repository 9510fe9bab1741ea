// SPDX-License-Identifier: Apache-2.0
// A plugin for a GPU made of kernels of this tree, each named KERNEL_again, to be compared with the same built in: verdicts and
// margins by validate/tests/worker/own_plugin_test.py, times by `validate bench --plugin`.
#include "ops/core/linked.hpp"
#include "ops/layernorm.hpp"
#include "ops/linear.hpp"
#include "ops/softmax.hpp"

namespace assay {
template <>
void link_op<layernorm>() {}
template <>
void link_op<linear>() {}
template <>
void link_op<softmax>() {}
}  // namespace assay

#include "cuda/layernorm/warp_row.cu"
#include "cuda/linear/mma_tiled.cu"
#include "cuda/softmax/warp_row.cu"
#include "validate/backends/library/exported.hpp"

const AssayPlugin* assay_plugin(uint32_t) {
  using namespace assay;
  static const AssayPlugin* const plugin = [] {
    static exported::Kernels all;
    all.add(*LinkedKernel<softmax>::first, "", "warp_row_again");
    all.add(*LinkedKernel<layernorm>::first, "", "warp_row_again");
    all.add(*LinkedKernel<linear>::first, "", "mma_tiled_again");
    return all.plugin();
  }();
  return plugin;
}
