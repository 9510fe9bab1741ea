// SPDX-License-Identifier: Apache-2.0
#include "validate/console/trials.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/console/console.hpp"

namespace assay {

namespace {

std::string case_text(const Record& r) { return r.repro.substr(r.repro.find(' ')); }  // without op and kernel

// A tier's mark: ● found the kernel first, ○ found it too, · did not.
std::string_view mark(const Trial& t, std::size_t tier) {
  if (t.first && static_cast<std::size_t>(*t.first) == tier) return "●";
  return t.seen[tier] ? "○" : "·";
}

std::string told(const Trial& t) { return t.bad ? (t.on.empty() ? "" : "(on " + t.on + ") ") + t.reason : "MISSED"; }

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace

bool Trial::can_pass() const {
  std::int64_t others = 0;
  for (std::size_t k = 0; k < kTiers.size(); ++k)
    if (static_cast<Tier>(k) != Tier::T4) others += seen[k];
  return passed > 0 || (bad > 0 && seen[static_cast<std::size_t>(Tier::T4)] == bad && others == 0);
}

void Policies::ask(Record& r, const Kernel& plain, PolicyCounts* counts) {
  if (r.kernel == plain.name) {
    case_ = case_text(r);
    baseline_ = r.policy_figures;
    for (std::size_t p = 0; p < kPolicies.size(); ++p)
      usable_[p] = !baseline_.empty() && passes(static_cast<Policy>(p), baseline_, baseline_);
  }
  if (case_text(r) != case_ || (r.policy_figures.empty() && !r.call_failed)) return;
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    if (!usable_[p]) continue;
    const bool passed = !r.call_failed && passes(static_cast<Policy>(p), r.policy_figures, baseline_);
    r.policies[kPolicies[p]] = passed;
    if (counts) ++(passed ? (*counts)[p].passed : (*counts)[p].failed);
  }
}

TrialTotals totals(const Trials& trials) {
  TrialTotals all;
  for (const auto& [op, kernels] : trials)
    for (const auto& [name, t] : kernels) {
      ++all.kernels;
      all.caught += t.bad > 0;
      all.pass_a_case += t.can_pass();
      all.only_stopped += t.bad > 0 && t.bad == t.stopped;
      const PolicyCount& usual = t.fixed[static_cast<std::size_t>(Policy::allclose)];
      all.pass_the_usual_test += usual.passed > 0 && usual.failed == 0;
      for (std::size_t p = 0; p < kPolicies.size(); ++p) {
        all.missed_fixed[p] += t.fixed[p].failed == 0;
        all.missed[p] += t.suite[p].failed == 0;
      }
    }
  return all;
}

std::string matrix_text(const Trials& trials) {
  std::string text;
  for (const auto& [op, kernels] : trials) {
    text += fmt::format("  {:<34}", op);
    for (const std::string_view tier : kTiers) text += fmt::format(" {:>5}", tier);
    text += fmt::format(" {:>6}\n", "passed");
    for (const auto& [name, t] : kernels) {
      text += fmt::format("    {:<32}", name);
      for (std::size_t k = 0; k < kTiers.size(); ++k) text += fmt::format(" {:>5}", mark(t, k));
      text += fmt::format(" {:>6}\n", t.passed);
      text += fmt::format("      {}\n", cut(told(t), stdout_width() - 7));
    }
    text += "\n";
  }
  return text + "  ● found by this tier first   ○ by this one as well   · not, in the cases that were judged\n\n";
}

std::string policy_lines(const TrialTotals& t, const std::string& suite) {
  std::string text;
  for (std::size_t p = 0; p < kPolicies.size(); ++p)
    text += fmt::format("  {:<20} misses {:>4} on one fixed shape, {:>4} in {}\n", kPolicies[p], t.missed_fixed[p], t.missed[p],
                        suite);
  return text + fmt::format("  {} of them fail only where the machine stops them, so that no rule has an output to judge\n",
                            t.only_stopped);
}

std::string matrix_markdown(const Trials& trials, const std::string& title, bool policies, const std::string& suite) {
  const TrialTotals all = totals(trials);
  std::string text =
      fmt::format("# The judge on trial\n\n{}\n\n**{} of {} broken kernels caught.**\n\n", title, all.caught, all.kernels);

  text += "| op | broken kernels |";
  for (const std::string_view tier : kTiers) text += fmt::format(" {} |", tier);
  text += " missed |\n|---|---|";
  for (std::size_t k = 0; k < kTiers.size(); ++k) text += "---|";
  text += "---|\n";
  for (const auto& [op, kernels] : trials) {
    std::array<std::int64_t, kTiers.size()> first{};
    std::int64_t missed = 0;
    for (const auto& [name, t] : kernels) t.first ? ++first[static_cast<std::size_t>(*t.first)] : ++missed;
    text += fmt::format("| `{}` | {} |", op, kernels.size());
    for (const std::int64_t n : first) text += n ? fmt::format(" {} |", n) : std::string("  |");
    text += fmt::format(" {} |\n", missed);
  }
  text +=
      "\nEach kernel counts under the tier that found it first: T0 exact probes, T1 the bound, T2 aggregates and power, T3 "
      "relations, T4 what it does beside its outputs or between two runs, and the watch.\n\n";

  if (policies) {
    text +=
        fmt::format("| rule | missed on one fixed shape | missed in `{}` |\n|---|---|---|\n| this judge | not counted | {} |\n",
                    suite, all.kernels - all.caught);
    for (std::size_t p = 0; p < kPolicies.size(); ++p)
      text += fmt::format("| `{}` | {} | {} |\n", kPolicies[p], all.missed_fixed[p], all.missed[p]);
    text += fmt::format(
        "\nThe rules judge the same outputs. A rule counts only cases on which it passes the plain, sound kernel, and misses a "
        "kernel that fails none of them. A call that ends in an error fails under every rule. Where the simulated machine stops "
        "a kernel there is no output for a rule to judge; {} kernels are stopped in every case that they fail.\n\n",
        all.only_stopped);
  }
  for (const auto& [op, kernels] : trials) {
    text += fmt::format("## {}\n\n| broken kernel |", op);
    for (const std::string_view tier : kTiers) text += fmt::format(" {} |", tier);
    text += policies ? " missed by | first failed by |\n|---|" : " first failed by |\n|---|";
    for (std::size_t k = 0; k < kTiers.size(); ++k) text += "---|";
    text += policies ? "---|---|\n" : "---|\n";
    for (const auto& [name, t] : kernels) {
      text += fmt::format("| `{}` |", name);
      for (std::size_t k = 0; k < kTiers.size(); ++k) text += fmt::format(" {} |", mark(t, k));
      std::string missed;
      for (std::size_t p = 0; p < kPolicies.size(); ++p)
        if (t.suite[p].failed == 0) missed += fmt::format("{}{}", missed.empty() ? "" : ", ", kPolicies[p]);
      if (policies) text += fmt::format(" {} |", missed);
      text += fmt::format(" {} |\n", escaped(told(t)));
    }
    text += "\n";
  }
  return text;
}

}  // namespace assay
