// SPDX-License-Identifier: Apache-2.0
// Runs one instruction a warp on the input words of its lanes.
#include "cuda/core/probe/probe.hpp"

#include <initializer_list>
#include <type_traits>
#include <utility>

#include "cuda/core/device.cuh"
#include "cuda/core/probe/hopper_probe.cuh"

namespace assay::ASSAY_FLAVOUR {

namespace {

constexpr int kWarps = 4;               // of a block
constexpr int kWarpBytes = kWarp * 16;  // of shared memory: 16 bytes a lane

template <Instruction I>
constexpr int words_in = info(I).words_in;
template <Instruction I>
constexpr int words_out = info(I).words_out;

template <Instruction I>
constexpr bool is_one_of(std::initializer_list<Instruction> list) {
  for (const Instruction i : list)
    if (i == I) return true;
  return false;
}

// `rows`: shared memory of the warp; `mine`: the lane's 16 bytes of it.
template <Instruction I>
__device__ void execute(const unsigned* in, unsigned* out, unsigned* rows, unsigned* mine) {
  using enum Instruction;
  constexpr bool kHalf = is_one_of<I>({mma_m16n8k16_half, mma_m16n8k8_half, pack_half, unpack_half, multiply_packed_half});
  using T = std::conditional_t<kHalf, half, bfloat16>;
  const auto floats = reinterpret_cast<const float*>(in);
  const auto floats_out = reinterpret_cast<float*>(out);
  constexpr int kOut = words_out<I>;

  if constexpr (is_one_of<I>({mma_m16n8k16_half, mma_m16n8k16_bfloat16, mma_m16n8k8_half, mma_m16n8k8_bfloat16})) {
    constexpr int kA = words_in<I> == 10 ? 4 : 2, kB = kA / 2;
    unsigned a[kA], b[kB];
    float c[4];
    for (int i = 0; i < kA; ++i) a[i] = ld(in + i);
    for (int i = 0; i < kB; ++i) b[i] = ld(in + kA + i);
    for (int i = 0; i < 4; ++i) c[i] = ld(floats + kA + kB + i);
    if constexpr (kA == 4) mma_m16n8k16<T>(c, a, b);
    else mma_m16n8k8<T>(c, a, b);
    for (int i = 0; i < 4; ++i) st(floats_out + i, c[i]);
  } else if constexpr (I >= ldmatrix_x1 && I <= ldmatrix_trans_x4) {
    for (int i = 0; i < 4; ++i) st(mine + i, ld(in + i));
    sync_warp();
    const auto row = reinterpret_cast<const half*>(rows + 4 * ld(in + 4));
    unsigned r[kOut];
    if constexpr (I >= ldmatrix_trans_x1) ldmatrix_trans<kOut>(r, row);
    else ldmatrix<kOut>(r, row);
    for (int i = 0; i < kOut; ++i) st(out + i, r[i]);
  } else if constexpr (I >= cp_async_4 && I <= cp_async_16) {
    for (int i = 0; i < 4; ++i) st(mine + i, kUntouched);
    cp_async<I == cp_async_4 ? 4 : I == cp_async_8 ? 8 : 16>(mine, in, static_cast<int>(ld(in + 4)));
    cp_async_commit();
    cp_async_wait<0>();
    for (int i = 0; i < 4; ++i) st(out + i, ld(mine + i));
  } else if constexpr (I == pack_half || I == pack_bfloat16) {
    st(out, pack<T>(ld(floats), ld(floats + 1)));
  } else if constexpr (I == unpack_half || I == unpack_bfloat16) {
    const auto v = unpack<T>(ld(in));
    for (int i = 0; i < 2; ++i) st(floats_out + i, v[i]);
  } else if constexpr (I == multiply_packed_half || I == multiply_packed_bfloat16) {
    st(out, multiply_packed<T>(ld(in), ld(in + 1)));
  } else if constexpr (I == atomic_add_global || I == atomic_add_shared) {
    unsigned* const memory = I == atomic_add_global ? out : mine;
    st(memory, ld(in));
    atomic_add(reinterpret_cast<float*>(memory), ld(floats + 1));
    if constexpr (I == atomic_add_shared) st(out, ld(memory));
  } else {
    static_assert(I == exp2_approx);
    st(floats_out, ASSAY_FLAVOUR::exp2_approx(ld(floats)));
  }
}

template <Instruction I>
__global__ void probe(const unsigned* in, unsigned* out, std::int64_t count) {
  const std::int64_t which = std::int64_t{blockIdx.x} * kWarps + warp_id();
  if (which >= count) return;
  const std::int64_t lane = which * kWarp + lane_id();
  unsigned* rows = shared_memory<unsigned>(static_cast<std::size_t>(warp_id() * kWarpBytes));
  execute<I>(in + lane * words_in<I>, out + lane * words_out<I>, rows, rows + 4 * lane_id());
}

template <Instruction I>
void launch_probe(const ProbeArgs& a, const Launch& l) {
  const auto blocks = static_cast<unsigned>((a.count + kWarps - 1) / kWarps);
  if constexpr (is_wgmma(I) || is_box(I)) return hopper_probe::launch_probe<I>(a, l, blocks);
  else
    launch(probe<I>, {.grid = dim3(blocks), .block = dim3(kWarps * kWarp), .shared_bytes = kWarps * kWarpBytes}, l.stream, a.in,
           a.out, a.count);
}

template <int... I>
void launch_one(const ProbeArgs& a, const Launch& l, std::integer_sequence<int, I...>) {
  ((static_cast<int>(a.instruction) == I ? launch_probe<static_cast<Instruction>(I)>(a, l) : void()), ...);
}

}  // namespace

void run_probe(const void* args, const Launch& l) {
  constexpr int kCount = static_cast<int>(std::size(kInstructions));
  launch_one(*static_cast<const ProbeArgs*>(args), l, std::make_integer_sequence<int, kCount>());
}

}  // namespace assay::ASSAY_FLAVOUR
