// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "validate/console/console.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/problem/numerics/habits.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

namespace {

// Whether two runs gave the same bits.  Note: the second finds other old bytes in the output, which elements that are never
// written keep; that says nothing against the kernel's determinism.
std::string_view two_runs_text(const Record& r) {
  if (*r.deterministic) return "give the same bits";
  return r.reads_like.starts_with(kNeverWritten) ? "differ in what the output held before, since elements are never written"
                                                 : "differ";
}

}  // namespace

void print_judged(const Record& r, bool colour) {
  fmt::print("  verdict        {}{}\n", painted(name(r.verdict), is_bad(r.verdict) ? Hue::red : Hue::green, colour),
             r.reason.empty() ? "" : ": " + r.reason);
  if (!r.not_checked.empty()) fmt::print("  not checked    {}\n", in_words(r.not_checked));
  if (const std::string terms = held_to_text(r); !terms.empty()) fmt::print("  held to        {}\n", terms);
  if (!r.fidelity.empty()) fmt::print("  fidelity       {}\n", r.fidelity);
  if (r.compared) fmt::print("  compared       {} elements, {} wrong\n", r.compared, r.wrong);
  if (r.margin) fmt::print("  err/bound      {:.4g}{}\n", *r.margin, r.exact ? "  (the answer is exactly representable)" : "");
  if (r.worst) {
    fmt::print("  worst          {}  {}\n", where_text(r), r.worst->tile);
    fmt::print("                 got {:.10g}  golden {:.10g}  bound ±{:.3g}\n", r.worst->got, r.worst->golden, r.worst->bound);
  }
  if (!r.pattern.empty()) fmt::print("  pattern        {}\n", r.pattern);
  if (!r.reads_like.empty()) fmt::print("  reads like     {}\n", r.reads_like);
  if (!r.would_pass.empty()) {
    Habits habits;
    habits.add(r.c.op, r.kernel, r.would_pass);
    fmt::print("  would pass     {}\n", habits.sentence(r.c.op, r.kernel));
  }
  if (!r.stages.empty()) {
    std::string text;
    for (const auto& [output, margin] : r.stages) text += fmt::format("{} {:.3g}  ", output, margin);
    fmt::print("  stages         {}\n", text);
  }
  if (r.end_to_end) fmt::print("  end to end     {:.2g} of the golden, from the inputs on (not judged)\n", *r.end_to_end);
  if (r.rms_ratio)
    fmt::print("  together       rms error {:.3g} and mean error {:.2g} of the rms that the numerics predict\n", *r.rms_ratio,
               r.bias.value_or(0));
  if (!r.relations.empty()) fmt::print("  relations      {}\n", fmt::join(r.relations, " "));
  if (r.deterministic) fmt::print("  two runs       {}\n", two_runs_text(r));
  if (r.digest) fmt::print("  digest         {}\n", digest_text(r));
  if (!r.rows_checked.empty())
    fmt::print("  golden         {} of {} rows{}\n", r.rows_checked.size(), r.rows,
               r.sweep_margin ? fmt::format("; all rows by a sweep, err/bound {:.3g}", *r.sweep_margin) : "");
}

}  // namespace assay
