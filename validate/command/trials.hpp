// SPDX-License-Identifier: Apache-2.0
// What a selfcheck learns of each broken kernel, and how it is shown.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validate/judge/judge.hpp"

namespace assay {

// A rule's count over the cases that it can judge: those where it lets the plain, sound kernel pass.
struct PolicyCount {
  std::int64_t passed = 0, failed = 0;
};
using PolicyCounts = std::array<PolicyCount, kPolicies.size()>;

struct Trial {
  std::int64_t passed = 0, bad = 0;                // cases; passed: only those in which something was compared
  std::int64_t stopped = 0;                        // of the bad ones: ended by a watchful machine, with no output to judge
  std::array<std::int64_t, kTiers.size()> seen{};  // bad cases, by each tier that found something
  std::optional<Tier> first;                       // of the first bad case, whose reason is told
  std::string reason, on;                          // on: the machine, where it is not the one that was asked for
  PolicyCounts suite{}, fixed{};
};
using Trials = std::map<std::string, std::map<std::string, Trial>>;  // by op and kernel

// Gives each record the verdicts of the rules, and counts them.
class Policies {
 public:
  // `r` comes in the order of the tasks, the plain kernel first.
  void ask(Record& r, const Kernel& plain, PolicyCounts* counts);

 private:
  std::string case_;
  std::vector<PolicyFigures> baseline_;  // the plain kernel's on that case
  std::array<bool, kPolicies.size()> usable_{};
};

struct TrialTotals {
  std::int64_t kernels = 0, caught = 0, pass_a_case = 0, pass_the_usual_test = 0;
  std::int64_t only_stopped = 0;  // kernels that a rule could not see fail: the machine stopped every bad case
  std::array<std::int64_t, kPolicies.size()> missed_fixed{}, missed{};
};
TrialTotals totals(const Trials& trials);

// The matrix on a terminal, an op after the other, and as Markdown.
std::string matrix_text(const Trials& trials);
std::string matrix_markdown(const Trials& trials, const std::string& title, bool policies, const std::string& suite);
// "allclose-1e-2 misses 90 on the fixed shape, 40 in the suite"; one line a rule.
std::string policy_lines(const TrialTotals& t, const std::string& suite);

}  // namespace assay
