// SPDX-License-Identifier: Apache-2.0
// FAULT: targets are kept in 16 bits. Right for a vocabulary of up to 65,536 entries.
// Caught by: the bound on last_class with a larger vocabulary.
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, target_of_16_bits) {

using namespace cross_entropy_room;

inline constexpr int kThreads = 128;

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void target_of_16_bits(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  fold::LogSumExp seen;
  fold::take_packs<1, 1>(seen, x, threadIdx.x, m.vocab, kThreads);
  seen = fold::join_block(seen, shared_memory<fold::LogSumExp>());
  if (threadIdx.x == 0)
    st(m.loss + token, logf(seen.sum) + (seen.max - to_float(ld(x + static_cast<std::uint16_t>(ld(m.target + token))))));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(target_of_16_bits<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, target_of_16_bits)
