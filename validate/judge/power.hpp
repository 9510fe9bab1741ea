// SPDX-License-Identifier: Apache-2.0
// Power: whether the bounds of a run would notice a fault.  A bound that no fault exceeds proves nothing.  So for each kernel and
// dtype a run makes answers with these faults, from the golden or by the oracle.  It tries each on case after case, until the
// kernel's own bound rejects it:
//   accumulator     everything on chip one precision lower (Roundings::one_lower)
//   intermediate    the result of a step rounded to the storage dtype, in f16 and bf16, unless the kernel declares that (or
//                   narrow_probabilities, with Hooks::intermediates_alike)
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
struct Record;

struct PowerLine {
  std::string op, kernel;
  DType dtype = DType::f32;
  std::string fault;
  std::int64_t tried = 0;   // cases whose output the fault changes, until one rejected it
  std::string rejected_by;  // repro line of the case that rejected it; empty: none did
  bool powerless() const { return tried > 0 && rejected_by.empty(); }
};

class Power {
 public:
  // The faults that were tried on a case, and whether the bound rejected each, by kernel.
  using Tried = std::map<const Kernel*, std::map<std::string, bool>>;
  // Tries on a prepared case the faults that no case has rejected so far.
  Tried look(const Prepared&);
  // Counts what look() found on a case of an earlier run, as its record tells (Record::faults).
  void add(const Record&);
  std::vector<PowerLine> lines() const;  // of faults that were tried, sorted by op, kernel, dtype and fault

 private:
  void count(const std::string& kernel, const Case&, const std::string& fault, bool rejected);
  std::map<std::tuple<std::string, std::string, DType, std::string>, PowerLine> lines_;
};

std::string to_json(const PowerLine&);

}  // namespace assay
