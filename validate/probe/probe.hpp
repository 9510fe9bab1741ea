// SPDX-License-Identifier: Apache-2.0
// Inputs of the instruction probes, with the same bits on every machine, and text that describes differences between their
// results.  Used by `validate probe`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/core/probe/probe.hpp"

namespace assay {

inline constexpr std::uint64_t kProbeSeed = 2026;

// A class of inputs, and how many instructions (warps) get such inputs.
//   any_bits    random bits, so also NaN, infinity and overflow
//   finite      a wide range of exponents; no infinity, no NaN
//   moderate    exponents near 0, as in a kernel's tiles
//   cancelling  pairs of products that nearly cancel, and a small c: shows at which bit terms are truncated
//   subnormal   factors, products or results below the least normal number
//   least       products and sums far below the least normal number: shows the least exponent that terms are aligned to
//   zeros       mostly zeros of both signs: shows the sign of a zero result
//   ties        at, just above and just below halfway between two 16-bit values
//   every       all 65,536 values
//   exponents   [-150, 130), all of exp2's finite range
struct ProbeClass {
  std::string_view name;
  std::int64_t instructions;
};
std::vector<ProbeClass> probe_classes(Instruction i);

// The inputs, [instructions, 32 lanes, words_in].
std::vector<std::uint32_t> probe_inputs(Instruction i, const ProbeClass& c);

// The relative error of `got` as exp2(x), in units of 2^-24; infinite if `got` is negative or subnormal, or if only one of `got`
// and exp2(x) is NaN.
double exp2_error(float x, float got);

// How two results of an instruction differ: "the sign of a zero", "a NaN's payload", "value", ...
std::string_view difference(Instruction i, std::uint32_t a, std::uint32_t b);

// Describes the inputs of word `at` of the results: for an mma c and the factors, else the lane's words.
std::string explain(Instruction i, const std::vector<std::uint32_t>& in, std::int64_t at);

}  // namespace assay
