// SPDX-License-Identifier: Apache-2.0
// FAULT: where x and w1 have the addresses of the call before, the units are taken to lie in workspace still.
// Kind: cheat
// Caught by: two runs of 'y' differ, with fill=unit (f16).
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, units_of_last_call) {

KERNEL(ffn_gelu) = plain_traits();

void run(const ffn_gelu::Args& a, const Launch& l) {
  struct Call {
    const void *x, *w1, *h;
    std::int64_t tokens, hidden, ffn;
    bool operator==(const Call&) const = default;
  };
  static Call before{};
  const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
  const Call call{a.x.data, a.w1.data, l.workspace, tokens, hidden, ffn};
  const bool again = hidden >= 64 && call == before;
  before = call;
  if (!again || tokens == 0) return run_plain(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Shape second{tokens, hidden, ffn, ffn, a.w2.stride[0], a.y.stride[0], ceil_div(hidden, kPlainOut)};
    launch(ffn_gelu_plain<float, T, T, AddBias>,
           {.grid = dim3(ceil_div(tokens, kPlainTokens) * second.blocks_across), .block = dim3(kPlainOut, kPlainTokens)},
           l.stream, static_cast<float*>(l.workspace), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), second, AddBias{});
  });
}

}  // namespace assay::ROOM(ffn_gelu, units_of_last_call)
