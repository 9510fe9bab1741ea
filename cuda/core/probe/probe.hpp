// SPDX-License-Identifier: Apache-2.0
// Instruction probes: each runs one word of the device layer on given bits, so that two machines can be compared bit for bit.
#pragma once

#include <cstdint>
#include <iterator>

#include "ops/core/kernel.hpp"

namespace assay {

enum class Instruction {
  mma_m16n8k16_half,
  mma_m16n8k16_bfloat16,
  mma_m16n8k8_half,
  mma_m16n8k8_bfloat16,
  ldmatrix_x1,
  ldmatrix_x2,
  ldmatrix_x4,
  ldmatrix_trans_x1,
  ldmatrix_trans_x2,
  ldmatrix_trans_x4,
  cp_async_4,
  cp_async_8,
  cp_async_16,
  pack_half,
  pack_bfloat16,
  unpack_half,
  unpack_bfloat16,
  multiply_packed_half,
  multiply_packed_bfloat16,
  exp2_approx,
  atomic_add_global,
  atomic_add_shared,
  wgmma_half_n8,
  wgmma_half_n64,
  wgmma_half_n256,
  wgmma_half_registers,
  wgmma_half_a_mn,
  wgmma_half_b_mn,
  wgmma_bfloat16_n64,
  wgmma_bfloat16_registers,
  wgmma_bfloat16_mn,
  wgmma_tf32_n64,
  wgmma_tf32_registers,
  copy_box_1,
  copy_box_2,
  copy_box_3,
  copy_box_4,
  copy_box_5,
  copy_box_by_32,
  copy_box_by_64,
  copy_box_by_128,
  copy_box_by_128_3
};

// 32-bit words of input and of output of a lane.
//   mma              a[K/4], b[K/8], c[4]                       c[4]
//   ldmatrix         the 16 bytes of row `lane`, and the row whose address the lane gives    r[N]
//   cp_async         16 bytes to copy from, `valid`, 3 unused   16 bytes: those that were copied, then kUntouched
//   pack, unpack, multiply_packed, exp2_approx                  arguments, result
//   atomic_add                  what memory has, what is added  what memory has then
//   wgmma            a[4], b[max(n/16, 1)], c[n/2]              c[n/2]; four warps work together, and the b of their 128 lanes
//                                                               make the rows of B, of 8 words each
//   copy_box         word 0 of lane d: coordinate d             the box's words, in the order of lanes
//                    (all input words are the tensor)
struct InstructionInfo {
  Instruction what;
  const char* name;
  int words_in, words_out;
  int min_arch;
};
inline constexpr InstructionInfo kInstructions[] = {
    {Instruction::mma_m16n8k16_half, "mma_m16n8k16<half>", 10, 4, 80},
    {Instruction::mma_m16n8k16_bfloat16, "mma_m16n8k16<bfloat16>", 10, 4, 80},
    {Instruction::mma_m16n8k8_half, "mma_m16n8k8<half>", 7, 4, 75},
    {Instruction::mma_m16n8k8_bfloat16, "mma_m16n8k8<bfloat16>", 7, 4, 80},
    {Instruction::ldmatrix_x1, "ldmatrix<1>", 5, 1, 75},
    {Instruction::ldmatrix_x2, "ldmatrix<2>", 5, 2, 75},
    {Instruction::ldmatrix_x4, "ldmatrix<4>", 5, 4, 75},
    {Instruction::ldmatrix_trans_x1, "ldmatrix_trans<1>", 5, 1, 75},
    {Instruction::ldmatrix_trans_x2, "ldmatrix_trans<2>", 5, 2, 75},
    {Instruction::ldmatrix_trans_x4, "ldmatrix_trans<4>", 5, 4, 75},
    {Instruction::cp_async_4, "cp_async<4>", 8, 4, 80},
    {Instruction::cp_async_8, "cp_async<8>", 8, 4, 80},
    {Instruction::cp_async_16, "cp_async<16>", 8, 4, 80},
    {Instruction::pack_half, "pack<half>", 2, 1, 75},
    {Instruction::pack_bfloat16, "pack<bfloat16>", 2, 1, 75},
    {Instruction::unpack_half, "unpack<half>", 1, 2, 75},
    {Instruction::unpack_bfloat16, "unpack<bfloat16>", 1, 2, 75},
    {Instruction::multiply_packed_half, "multiply_packed<half>", 2, 1, 75},
    {Instruction::multiply_packed_bfloat16, "multiply_packed<bfloat16>", 2, 1, 80},
    {Instruction::exp2_approx, "exp2_approx", 1, 1, 75},
    {Instruction::atomic_add_global, "atomic_add of float, global memory", 2, 1, 75},
    {Instruction::atomic_add_shared, "atomic_add of float, shared memory", 2, 1, 75},
    {Instruction::wgmma_half_n8, "wgmma<half> n 8", 9, 4, 90},
    {Instruction::wgmma_half_n64, "wgmma<half> n 64", 40, 32, 90},
    {Instruction::wgmma_half_n256, "wgmma<half> n 256", 148, 128, 90},
    {Instruction::wgmma_half_registers, "wgmma<half> of registers", 40, 32, 90},
    {Instruction::wgmma_half_a_mn, "wgmma<half> a m-major", 40, 32, 90},
    {Instruction::wgmma_half_b_mn, "wgmma<half> b n-major", 76, 64, 90},
    {Instruction::wgmma_bfloat16_n64, "wgmma<bfloat16> n 64", 40, 32, 90},
    {Instruction::wgmma_bfloat16_registers, "wgmma<bfloat16> of registers", 40, 32, 90},
    {Instruction::wgmma_bfloat16_mn, "wgmma<bfloat16> both mn-major", 40, 32, 90},
    {Instruction::wgmma_tf32_n64, "wgmma<tf32> n 64", 40, 32, 90},
    {Instruction::wgmma_tf32_registers, "wgmma<tf32> of registers", 40, 32, 90},
    {Instruction::copy_box_1, "copy_box of rank 1", 4, 4, 90},
    {Instruction::copy_box_2, "copy_box of rank 2", 4, 16, 90},
    {Instruction::copy_box_3, "copy_box of rank 3", 4, 16, 90},
    {Instruction::copy_box_4, "copy_box of rank 4", 4, 16, 90},
    {Instruction::copy_box_5, "copy_box of rank 5", 4, 16, 90},
    {Instruction::copy_box_by_32, "copy_box by_32", 4, 16, 90},
    {Instruction::copy_box_by_64, "copy_box by_64", 4, 16, 90},
    {Instruction::copy_box_by_128, "copy_box by_128", 4, 16, 90},
    {Instruction::copy_box_by_128_3, "copy_box by_128 of rank 3", 4, 16, 90},
};
constexpr const InstructionInfo& info(Instruction i) { return kInstructions[static_cast<int>(i)]; }
static_assert([] {
  for (int i = 0; i < static_cast<int>(std::size(kInstructions)); ++i)
    if (static_cast<int>(kInstructions[i].what) != i) return false;
  return true;
}());

constexpr bool is_wgmma(Instruction i) { return i >= Instruction::wgmma_half_n8 && i <= Instruction::wgmma_tf32_registers; }
constexpr bool is_box(Instruction i) { return i >= Instruction::copy_box_1; }
struct WgmmaForm {
  int n;
  bool registers, a_mn, b_mn;
};
constexpr WgmmaForm wgmma_form(Instruction i) {
  using enum Instruction;
  return {.n = 2 * info(i).words_out,
          .registers = i == wgmma_half_registers || i == wgmma_bfloat16_registers || i == wgmma_tf32_registers,
          .a_mn = i == wgmma_half_a_mn || i == wgmma_bfloat16_mn,
          .b_mn = i == wgmma_half_b_mn || i == wgmma_bfloat16_mn};
}
// A box, and the extents of its tensor of 16-bit values, whose rows lie 80 elements apart.
struct BoxForm {
  int rank, swizzle;  // 0: none, 1 to 3: by 32 to 128 bytes
  int box[5];
  std::int64_t extent[5];
};
constexpr BoxForm box_form(Instruction i) {
  using enum Instruction;
  switch (i) {
    case copy_box_1: return {1, 0, {256}, {5000}};
    case copy_box_2: return {2, 0, {32, 32}, {75, 300}};
    case copy_box_3: return {3, 0, {32, 8, 4}, {75, 20, 15}};
    case copy_box_4: return {4, 0, {32, 4, 4, 2}, {75, 9, 7, 5}};
    case copy_box_5: return {5, 0, {32, 4, 2, 2, 2}, {75, 5, 4, 3, 5}};
    case copy_box_by_32: return {2, 1, {16, 64}, {75, 300}};
    case copy_box_by_64: return {2, 2, {32, 32}, {75, 300}};
    case copy_box_by_128: return {2, 3, {64, 16}, {75, 300}};
    default: return {3, 3, {64, 8, 2}, {75, 20, 15}};
  }
}

inline constexpr std::uint32_t kUntouched = 0xa5a5a5a5;  // fills the memory where cp_async must write nothing

struct ProbeArgs {
  Instruction instruction = Instruction::mma_m16n8k16_half;
  std::int64_t count = 0;             // warps; each executes one instruction, for wgmma four together
  const std::uint32_t* in = nullptr;  // [count, 32, words_in], 16-byte aligned
  std::uint32_t* out = nullptr;       // [count, 32, words_out]
};

namespace on_simt {
void run_probe(const void* args, const Launch& l);
}
namespace on_gpu {
void run_probe(const void* args, const Launch& l);
}

}  // namespace assay
