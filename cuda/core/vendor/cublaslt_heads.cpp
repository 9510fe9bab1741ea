// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/vendor/cublaslt_heads.hpp"

#include <algorithm>

namespace assay::vendor::cublaslt {

namespace {

// The matrix [sequence, head_dim] of one head.
Tensor head_of(const Tensor& t, std::int64_t batch, std::int64_t head) {
  const std::int64_t offset = (batch * t.stride[0] + head * t.stride[2]) * size_of(t.dtype);
  void* const at = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(t.data) + static_cast<std::uintptr_t>(offset));
  return {.data = at, .dtype = t.dtype, .rank = 2, .shape = {t.shape[1], t.shape[3]}, .stride = {t.stride[1], t.stride[3]}};
}

template <class F>
void each_call(const HeadProducts& p, F&& f) {
  const std::int64_t kv_heads = p.w.shape[2], group = p.x.shape[2] / kv_heads;
  for (std::int64_t b = 0; b < p.x.shape[0]; ++b)
    for (std::int64_t g = 0; g < group; ++g)
      f(Matmul{.x = head_of(p.x, b, g),
               .w = head_of(p.w, b, 0),
               .y = head_of(p.y, b, g),
               .scale = p.scale,
               .as_it_is = p.as_it_is,
               .batch = {.count = kv_heads, .x = group * p.x.stride[2], .w = p.w.stride[2], .y = group * p.y.stride[2]}});
}

}  // namespace

Legality supports(const HeadProducts& p) {
  Legality all = Legality::yes();
  each_call(p, [&](const Matmul& m) { all = all ? supports(m) : all; });
  return all;
}

std::size_t workspace_bytes(const HeadProducts& p) {
  std::size_t most = 0;
  each_call(p, [&](const Matmul& m) { most = std::max(most, workspace_bytes(m)); });
  return most;
}

void run(const HeadProducts& p, const Launch& l) {
  each_call(p, [&](const Matmul& m) { run(m, l); });
}

}  // namespace assay::vendor::cublaslt
