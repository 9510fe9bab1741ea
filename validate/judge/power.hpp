// SPDX-License-Identifier: Apache-2.0
// Power: what the bounds of a run would have let pass.  A bound that no fault could leave proves nothing, however many cases
// passed under it; so for each kernel and dtype the run looks for a case whose check rejects each of these faults, made here
// from the golden or from the rounding-policy oracle and held to the kernel's own bound:
//   accumulator     everything on chip one precision lower (Roundings::one_lower)
//   intermediate    a step's result rounded to the storage dtype, by a kernel that does not declare it
//   output          the golden rounded to fewer bits: TF32's 11 for f32, bf16's 8 for f16, E4M3's 4 for bf16
//   dropped_AXIS    the last term of a sum over that axis missing (Hooks::summed)
// Cases in which the fault changes no output do not count.  A fault that was tried and never rejected makes the run suspect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

struct Prepared;

struct PowerLine {
  std::string op, kernel;
  DType dtype = DType::f32;
  std::string fault;
  std::int64_t tried = 0;   // cases in which the fault shows, until one rejected it
  std::string rejected_by;  // that case's repro line; empty: none did
  bool powerless() const { return tried > 0 && rejected_by.empty(); }
};

class Power {
 public:
  // Tries on a prepared case the faults that none has rejected so far.
  void look(const Prepared&);
  std::vector<PowerLine> lines() const;  // by op, kernel, dtype, fault; those that were tried

 private:
  std::map<std::tuple<std::string, std::string, DType, std::string>, PowerLine> lines_;
};

std::string to_json(const PowerLine&);

}  // namespace assay
