// SPDX-License-Identifier: Apache-2.0
// Power: whether the bounds of a run would notice a fault.  A bound that no fault exceeds proves nothing.  So for each kernel and
// dtype a run makes answers with these faults, from the golden or by the oracle.  It tries each on case after case, until the
// kernel's own bound rejects it:
//   accumulator     everything on chip one precision lower (Roundings::one_lower)
//   intermediate    the results of all steps rounded to the storage dtype, in f16 and bf16, unless the kernel declares one as
//   stored output          the golden rounded to fewer bits: TF32's 11 for f32, bf16's 8 for f16, E4M3's 4 for bf16 dropped_AXIS
//   the last term of a sum over that axis missing (ByFormula::summed)
//   zeros           every element a zero.  Its cases are all counted, and most elements, each case weighing alike, must reject
//   it:
//                   where bounds grow without end, as of a recurrence whose states may, few cases would say that all is well
// Cases in which the fault changes no output do not count, and neither do those of which the kernel had no output to compare,
// since it does not take them.  A fault that was tried and never rejected makes the run suspect.  So does a kernel
// that takes, of a dtype, only cases on which no fault shows, and declines others on which they do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "validate/problem/op.hpp"
#include "validate/records/lines.hpp"

namespace assay {

struct Prepared;
struct Task;

// Whether a kernel's sums are finer than its output.  Sums in f16 or bf16 that are not err by several of its roundings, so that
// no bound of theirs rejects one more, and may leave nothing of a long sum.
bool sums_are_finer(const Numerics&, DType);

class Power {
 public:
  // The faults that were tried on a case, and whether the bound rejected each, by kernel.
  using Tried = std::map<const Kernel*, std::map<std::string, bool>>;
  // Tries on a prepared case the faults that no case has rejected so far, before it is known whether the kernels take it.
  // Looks at no further fault once `stop` says so.
  Tried look(const Prepared&, const std::function<bool()>& stop = {});
  // Takes note, in the tasks' order, that a kernel's output of the task was compared, as the record says; or that it was not, and
  // takes back what look() found on it.
  void compared(const Task&, const Kernel&, const Record&);
  // `declined`: by the kernel's own word.  If not, the evidence is incomplete, and nothing is held against the kernel.
  void not_compared(const Case&, const Kernel&, const std::map<std::string, bool>& tried, bool declined);
  // Tries the faults whose only rejections were taken back on the cases that were compared.  Gives up if `stop` says so.
  void settle(const std::function<bool()>& stop);
  // Counts what look() found on a case of an earlier run, as its record tells (Record::faults).
  void add(const Record&);
  std::vector<PowerLine> lines() const;  // of faults that were tried, sorted by op, kernel, dtype and fault

 private:
  using Key = std::tuple<std::string, std::string, DType, std::string>;  // op, kernel, dtype, fault
  void count(const std::string& kernel, const Case&, const std::string& fault, bool rejected);
  void count_loose(const Record&);
  Tried look_for(const Prepared&, const std::vector<const Kernel*>&, const std::function<bool(const Key&)>& wanted);

  std::map<Key, PowerLine> lines_;
  using OfKernel = std::tuple<std::string, std::string, DType>;
  struct Loose {
    std::int64_t cases = 0;
    double share = 0;  // of the elements of a case that take a zero for another value (Record::loose), summed over cases
    std::string
        rejected;  // repro line of a case that rejects zeros in most elements: the first by its text, in any order of cases
  };
  std::map<OfKernel, Loose> loose_;
  std::set<OfKernel> incomplete_;                                           // that could not run all cases
  std::set<Key> taken_back_;                                                // of which a case was taken back
  std::vector<std::pair<const Task*, std::vector<const Kernel*>>> judged_;  // tasks, and the kernels whose outputs were compared
};

}  // namespace assay
