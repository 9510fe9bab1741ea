// SPDX-License-Identifier: Apache-2.0
// A plugin for a GPU made of kernels of this tree, each named KERNEL_again, to be compared with the same built in: verdicts and
// margins by validate/tests/worker/own_plugin_test.py, times by `validate bench --plugin`.
#include <string>

#include "cuda/layernorm/warp_row.cu"
#include "cuda/linear/mma_tiled.cu"
#include "cuda/softmax/warp_row.cu"
#include "include/assay.h"

namespace {

using namespace assay;

// Binds an op's arguments to those of a call, by name.
struct Bind {
  const AssayCall* call;
  void tensor(std::string_view name, Tensor& t) const {
    const AssayDLTensor* from = assay_tensor(call, std::string(name).c_str());
    if (!from) return;
    t.data = from->data;
    t.rank = from->ndim;
    t.dtype = from->dtype_bits == 32 ? f32 : from->dtype_code == 4 ? bf16 : f16;
    for (int i = 0; i < t.rank; ++i) {
      t.shape[i] = from->shape[i];
      t.stride[i] = from->strides[i];
    }
  }
  void input(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void weight(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void output(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void attribute(std::string_view name, double& value, double) const {
    value = assay_attribute(call, std::string(name).c_str())->number;
  }
  template <class T>
  void choice(std::string_view name, T& value, Words words) const {
    int i = 0;
    for (const std::string_view word : words) {
      if (word == assay_attribute(call, std::string(name).c_str())->word) value = static_cast<T>(i);
      ++i;
    }
  }
};

template <class Op, const KernelTraits<Op>& traits, void (*Run)(const typename Op::Args&, const Launch&)>
struct Again {
  static typename Op::Args args(const AssayCall* call) {
    typename Op::Args a;
    Op::bind(a, Bind{call});
    return a;
  }
  static const char* supports(const AssayCall* call) {
    static std::string why;
    why = traits.supports ? traits.supports(args(call)).why : std::string();
    return why.empty() ? nullptr : why.c_str();
  }
  static int run(const AssayCall* call) {
    Run(args(call), {.stream = call->stream, .workspace = call->workspace});
    return 0;
  }
};

template <class Again>
constexpr AssayKernel kernel(const char* op, const char* name, const char* dtypes, const char* numerics, const char* tiles) {
  return {sizeof(AssayKernel), op, name, dtypes, numerics, tiles, nullptr, 0, nullptr, Again::supports, nullptr, Again::run};
}

const AssayKernel kSoftmax = kernel<Again<softmax, on_gpu::softmax_room::warp_row::traits, on_gpu::softmax_room::warp_row::run>>(
    "softmax", "warp_row_again", "f16 bf16 f32", "accumulate=f32 chain=256+9 flushes_subnormals", "rows=4 cols=256");
const AssayKernel kLayernorm =
    kernel<Again<layernorm, on_gpu::layernorm_room::warp_row::traits, on_gpu::layernorm_room::warp_row::run>>(
        "layernorm", "warp_row_again", "f16 bf16 f32", "accumulate=f32 chain=128+29", "rows=4 cols=512B");
const AssayKernel kLinear = kernel<Again<linear, on_gpu::linear_room::mma_tiled::traits, on_gpu::linear_room::mma_tiled::run>>(
    "linear", "mma_tiled_again", "f16 bf16", "accumulate=f32 chain=1 mma_terms=8", "tokens=128 out=128 hidden=64");

}  // namespace

const AssayPlugin* assay_plugin(uint32_t) {
  static const AssayKernel* const kernels[] = {&kSoftmax, &kLayernorm, &kLinear};
  static const AssayPlugin plugin{sizeof(AssayPlugin), ASSAY_ABI_VERSION, 3, kernels};
  return &plugin;
}
