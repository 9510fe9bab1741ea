// SPDX-License-Identifier: Apache-2.0
// The inputs of the instruction probes, the same bits on every machine, and their results in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/core/probe/probe.hpp"

namespace assay {

inline constexpr std::uint64_t kProbeSeed = 2026;

// Bits of one kind, for so many instructions.
//   any_bits    NaN, infinity and overflow among them
//   finite      any exponent but that of infinity
//   moderate    exponents near 0, as in a kernel's tiles
//   cancelling  pairs of products that nearly cancel, above a c as small as what is left: shows where terms are truncated
//   subnormal   factors, products or results below the least normal number
//   zeros       zeros of both signs, few other values: shows the sign of a zero result
//   ties        just at, above and below halfway between two 16-bit values
//   every       all 65,536 values
//   exponents   [-150, 130), all of exp2's finite range
struct ProbeClass {
  std::string_view name;
  std::int64_t instructions;
};
std::vector<ProbeClass> probe_classes(Instruction i);

// [instructions, 32, words_in]
std::vector<std::uint32_t> probe_inputs(Instruction i, const ProbeClass& c);

// The error of exp2_approx(x) in units of 2^-24 of 2^x; infinite where it is not even of the right kind.
double exp2_error(float x, float got);

// How two results of an instruction differ: "the sign of a zero", "a NaN's payload", "value", ...
std::string_view difference(Instruction i, std::uint32_t a, std::uint32_t b);

// What went into word `at` of the results, for a person: of an mma c and the products, else the lane's words.
std::string explain(Instruction i, const std::vector<std::uint32_t>& in, std::int64_t at);

}  // namespace assay
