// SPDX-License-Identifier: Apache-2.0
// The building blocks of the layers of this room: kernels of other rooms, and workspace for the tensors
// between steps.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"
#include "ops/attention_forward.hpp"
#include "ops/core/dense.hpp"
#include "ops/gelu.hpp"
#include "ops/gelu_linear.hpp"
#include "ops/gemm_swiglu.hpp"
#include "ops/layernorm.hpp"
#include "ops/layernorm_linear.hpp"
#include "ops/linear.hpp"
#include "ops/residual_layernorm.hpp"
#include "ops/residual_rmsnorm.hpp"
#include "ops/rmsnorm.hpp"
#include "ops/rmsnorm_gemm.hpp"
#include "ops/rope.hpp"
#include "ops/silu_mul.hpp"
#include "ops/transformer_layer.hpp"

#define STEP(op, stem)                        \
  namespace op##_room::stem {                 \
    extern const KernelTraits<op> traits;     \
    void run(const op::Args&, const Launch&); \
  }

namespace assay::ASSAY_FLAVOUR {

STEP(add, vector16)
STEP(attention_forward, mma_tiled)
STEP(attention_forward, naive)
STEP(attention_forward, sm90_wgmma)
STEP(attention_forward, unfused)
STEP(gelu, vector16)
STEP(gelu_linear, fma_tiled)
STEP(gelu_linear, mma_tiled)
STEP(gelu_linear, sm90_few_tokens)
STEP(gelu_linear, sm90_wgmma)
STEP(gemm_swiglu, fma_tiled)
STEP(gemm_swiglu, mma_tiled)
STEP(gemm_swiglu, sm90_few_tokens)
STEP(gemm_swiglu, sm90_wgmma)
STEP(layernorm, block_row)
STEP(layernorm_linear, fma_tiled)
STEP(layernorm_linear, mma_tiled)
STEP(linear, fma_tiled)
STEP(linear, mma_tiled)
STEP(linear, sm90_few_tokens)
STEP(linear, sm90_wgmma)
STEP(residual_layernorm, block_row)
STEP(residual_rmsnorm, block_row)
STEP(rmsnorm, block_row)
STEP(rmsnorm_gemm, fma_tiled)
STEP(rmsnorm_gemm, mma_tiled)
STEP(rope, vector16)
STEP(silu_mul, vector16)

namespace transformer_layer_room {

// A kernel of another room.
template <class Op>
struct Step {
  const KernelTraits<Op>& traits;
  void (*run)(const typename Op::Args&, const Launch&);
};
#define KERNEL_OF(op, stem) (Step<op>{op##_room::stem::traits, op##_room::stem::run})
// Tensor cores for 16-bit elements, f32 arithmetic for f32.
#define PRODUCT_OF(op, dtype) ((dtype) == f32 ? KERNEL_OF(op, fma_tiled) : KERNEL_OF(op, mma_tiled))

// Runs the steps of a layer, or only asks whether each supports its arguments and how much workspace it needs.
class Steps {
 public:
  Steps() = default;
  // `asked`: knows the workspace that the same steps need, since a layer was made with it without a launch.
  Steps(const Steps& asked, const Launch& l) : launch_(l), launches_(true), scratch_(asked.scratch_) {}

  template <class Op>
  void operator()(const Step<Op>& step, const typename Op::Args& a) {
    if (launches_) {
      step.run(a, launch_);
      launch_.after = true;
      return;
    }
    if (step.traits.workspace_bytes) scratch_ = std::max(scratch_, rounded(step.traits.workspace_bytes(a)));
    if (supported_ && step.traits.supports) supported_ = step.traits.supports(a);
  }
  // A tensor between steps, in workspace.  The workspace that steps themselves use lies before all such tensors.
  Tensor room(DType t, std::initializer_list<std::int64_t> shape) {
    Tensor to = dense(nullptr, t, shape);
    if (launches_) to.data = static_cast<char*>(launch_.workspace) + scratch_ + taken_;
    taken_ += rounded(static_cast<std::size_t>(to.bytes()));
    return to;
  }
  std::size_t bytes() const { return scratch_ + taken_; }
  const Legality& supported() const { return supported_; }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  Launch launch_;
  bool launches_ = false;
  std::size_t scratch_ = 0, taken_ = 0;
  Legality supported_;
};

// A contiguous tensor as a matrix of `rows` rows.
inline Tensor matrix(const Tensor& t, std::int64_t rows) {
  if (t.rank == 0) return t;
  const std::int64_t cols = rows == 0 ? t.shape[t.rank - 1] : t.size() / rows;
  return dense(t.data, t.dtype, {rows, cols});
}
inline Tensor vector(const Tensor& t) {
  if (t.rank == 0) return t;
  return dense(t.data, t.dtype, {t.size()});
}

}  // namespace transformer_layer_room
}  // namespace assay::ASSAY_FLAVOUR
