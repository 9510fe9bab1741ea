// SPDX-License-Identifier: Apache-2.0
// What a probe runs: one instruction on one class of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/worker/backend.hpp"

namespace assay {

using ProbeBits = std::vector<std::uint32_t>;

class ProbeSubject {
 public:
  virtual ~ProbeSubject() = default;

  std::string instruction, inputs;  // names: of the instruction, and of the class of its inputs
  std::int64_t instructions = 0;    // that are run, each by a warp
  int min_arch = 0;
  bool exact = true;          // false: the machines need not agree (docs/ptx.md)
  std::size_t words_out = 0;  // of all instructions
  std::size_t words_per_digest = 1;

  // Runs no more instructions than so many digests need.
  virtual void keep(std::size_t /*digests*/) {}
  virtual ProbeBits inputs_bits() const = 0;
  // Runs the instructions.  `in` and `out` are device memory.
  virtual void run(Backend& backend, const std::uint32_t* in, std::uint32_t* out) const = 0;
  // Replaces what may differ between machines, such as the payloads of some NaNs.
  virtual void forget(ProbeBits& /*out*/) const {}
  // The worst error in units of 2^-24, for an instruction whose bits may differ between machines.
  virtual std::optional<double> worst_error(const ProbeBits& /*in*/, const ProbeBits& /*out*/) const { return std::nullopt; }
  // How two words of results differ, in words: "value", "the sign of a zero", ...
  virtual std::string_view difference(std::uint32_t /*a*/, std::uint32_t /*b*/) const { return "bits"; }
  // The inputs of the word `at` of the results.
  virtual std::string explain(const ProbeBits& in, std::int64_t at) const = 0;
};
using ProbeSubjects = std::vector<std::unique_ptr<ProbeSubject>>;

ProbeSubjects word_subjects();  // the device words that a GPU does in hardware
// The forms of PTX that the simulated machine runs.  `refused`: those that it does not, with the reason.
ProbeSubjects ptx_subjects(std::vector<std::string>& refused);

}  // namespace assay
