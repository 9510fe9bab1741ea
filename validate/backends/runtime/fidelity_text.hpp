// SPDX-License-Identifier: Apache-2.0
// What verdicts on PTX rest on, in words (docs/ptx.md#fidelity).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ops/core/contract.hpp"

namespace simt::ptx {
struct Program;
}

namespace assay {

using Programs = std::span<const std::shared_ptr<const simt::ptx::Program>>;

// The lowest fidelity of the programs and the first instruction that has it, what adds in no fixed order, and what they compute
// in less than the numerics declare.
std::string fidelity_text(Programs programs, const Numerics& declared);

}  // namespace assay
