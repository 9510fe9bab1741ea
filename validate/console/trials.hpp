// SPDX-License-Identifier: Apache-2.0
// The results of a selfcheck for each broken kernel, and their text.  validate/command/selfcheck.cpp uses them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validate/judge/judge.hpp"

namespace assay {

// How many cases a kernel passes and fails by a rule.  Only cases count on which the rule passes the plain kernel, the op's naive
// or unfused one.
struct PolicyCount {
  std::int64_t passed = 0, failed = 0;
};
using PolicyCounts = std::array<PolicyCount, kPolicies.size()>;

struct Trial {
  std::int64_t passed = 0, bad = 0;  // cases; passed: only those in which something was compared
  std::int64_t stopped = 0;          // bad cases that the machine stopped, so that the rules have no output to judge
  std::array<std::int64_t, kTiers.size()> seen{};  // bad cases by tier; a case counts for every tier that found something
  std::optional<Tier> first;                       // the first tier that found something in the first bad case
  std::string reason, on;                          // of the first bad case; on: its backend, if not the one asked for
  PolicyCounts suite{}, fixed{};

  // Whether the fault is not trivial: a case passes, or every case fails by T4 alone.  What run() does to memory is found in
  // every case, and yet no value need be wrong.
  bool can_pass() const;
};
using Trials = std::map<std::string, std::map<std::string, Trial>>;  // by op and kernel

// Judges each record by every rule, writes the verdicts into it and counts them.
class Policies {
 public:
  // Call it in the order of the tasks, for the plain kernel of a case first.  `counts` may be null.
  void ask(Record& r, const Kernel& plain, PolicyCounts* counts);

 private:
  std::string case_;
  std::vector<PolicyFigures> baseline_;          // the plain kernel's figures on the case
  std::array<bool, kPolicies.size()> usable_{};  // which rules pass the plain kernel on the case
};

struct TrialTotals {
  std::int64_t kernels = 0, caught = 0, pass_a_case = 0, pass_the_usual_test = 0;
  std::int64_t only_stopped = 0;  // kernels that the machine stopped in every bad case, so that no rule saw an output
  std::array<std::int64_t, kPolicies.size()> missed_fixed{}, missed{};
};
TrialTotals totals(const Trials& trials);

// The matrix of broken kernels and tiers, for a terminal and as Markdown.
std::string matrix_text(const Trials& trials);
std::string matrix_markdown(const Trials& trials, const std::string& title, bool policies, const std::string& suite);
// "allclose-1e-2 misses 90 on one fixed shape, 40 in smoke"; one line per rule.
std::string policy_lines(const TrialTotals& t, const std::string& suite);

}  // namespace assay
