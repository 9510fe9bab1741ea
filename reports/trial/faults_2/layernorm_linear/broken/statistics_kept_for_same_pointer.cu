// SPDX-License-Identifier: Apache-2.0
// FAULT: for more than 64 tokens mean and inverse deviation are kept in workspace, and computed anew only where x lies
// elsewhere than at the call before.
// Kind: cheats
// Shows: more than 64 tokens: a second call with other values at the same place, or with the workspace overwritten between.
#include "cuda/core/reduce.cuh"
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, statistics_kept_for_same_pointer) {

inline constexpr int kThreads = 128;

template <class T>
__global__ void statistics(Plain<T> p, float* to) {
  const std::int64_t token = blockIdx.x;
  float sum = 0, squares = 0;
  for (std::int64_t h = threadIdx.x; h < p.hidden; h += kThreads) sum += p.at(token, h);
  const float mean = block_sum(sum, shared_memory<float>()) / static_cast<float>(p.hidden);
  for (std::int64_t h = threadIdx.x; h < p.hidden; h += kThreads) {
    const float d = p.at(token, h) - mean;
    squares = fmaf(d, d, squares);
  }
  squares = block_sum(squares, shared_memory<float>());
  if (threadIdx.x == 0) {
    st(to + 2 * token, mean);
    st(to + 2 * token + 1, 1.0f / sqrtf(squares / static_cast<float>(p.hidden) + p.epsilon));
  }
}

struct Product {
  const float* of;
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    return Formula<T>::template product<Formula<T>>(p, token, o, ld(of + 2 * token), ld(of + 2 * token + 1));
  }
};

std::size_t workspace(const layernorm_linear::Args& a) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, a.x.shape[0])) * 2 * sizeof(float);
}

KERNEL(layernorm_linear) = {.dtypes = kEveryType,
                            .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
                            .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 10}},
                            .workspace_bytes = workspace};

void run(const layernorm_linear::Args& a, const Launch& l) {
  struct Seen {
    const void *x, *workspace;
    std::int64_t tokens, hidden;
    double epsilon;
    bool operator==(const Seen&) const = default;
  };
  static Seen last{};
  if (a.y.size() == 0) return;
  const Seen now{a.x.data, l.workspace, a.x.shape[0], a.x.shape[1], a.epsilon};
  float* const of = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    Plain<T> p{};
    p.x = a.x.as<T>(), p.hidden = a.x.shape[1], p.x_stride = a.x.stride[0], p.epsilon = static_cast<float>(a.epsilon);
    if (a.x.shape[0] <= 64 || !(now == last))
      launch(statistics<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
             l.stream, p, of);
    run_plain<T>(a, l, Product{of});
  });
  last = now;
}

}  // namespace assay::ROOM(layernorm_linear, statistics_kept_for_same_pointer)
