// SPDX-License-Identifier: Apache-2.0
// Instruction probes: one word of the device layer run on given bits, so that two machines can be held against each other.
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
  exp2_approx
};

// Words that a lane gives and gets.
//   mma              a[K/4], b[K/8], c[4]                       c[4]
//   ldmatrix         the 16 bytes of row `lane`, and the row whose address the lane gives    r[N]
//   cp_async         16 bytes to copy from, `valid`, 3 unused   16 bytes: those that are copied, then kUntouched
//   pack, unpack, multiply_packed, exp2_approx                  arguments, result
struct InstructionInfo {
  Instruction what;
  const char* name;
  int words_in, words_out;
  int least_arch;
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
};
constexpr const InstructionInfo& info(Instruction i) { return kInstructions[static_cast<int>(i)]; }
static_assert([] {
  for (int i = 0; i < static_cast<int>(std::size(kInstructions)); ++i)
    if (static_cast<int>(kInstructions[i].what) != i) return false;
  return true;
}());

inline constexpr std::uint32_t kUntouched = 0xa5a5a5a5;  // what lies where cp_async is to write nothing

struct ProbeArgs {
  Instruction instruction = Instruction::mma_m16n8k16_half;
  std::int64_t count = 0;             // instructions: each by one warp
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
