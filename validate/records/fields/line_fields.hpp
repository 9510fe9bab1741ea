// SPDX-License-Identifier: Apache-2.0
// The fields of what a run says besides its cases: `power`, `declared`, `suggested` and `shrunk` records.
#pragma once

#include "validate/records/fields/fields.hpp"
#include "validate/records/fields/words.hpp"
#include "validate/records/lines.hpp"

namespace assay {

template <>
struct Fields<PowerLine> {
  template <class V>
  static void visit(V& v, const PowerLine& l) {
    v.required("op", l.op);
    v.required("kernel", l.kernel);
    v.required("dtype", l.dtype);
    v.required("fault", l.fault,
               {.about = "accumulator, intermediate, output: one precision lower; dropped_AXIS: the last term of a sum; zeros: "
                         "every element"});
    v.required("tried", l.tried, {.about = "cases in which the fault shows, until one rejected it"});
    v.required("verdict", l.powerless() ? Verdict::suspect : Verdict::passed,
               {.about = "suspect: no case rejected it", .form = R"({"enum": ["passed", "suspect"]})"});
    v.optional("rejected_by", l.rejected_by, {.about = "the repro line of that case"});
  }
};

template <>
struct Fields<DeclaredLine> {
  template <class V>
  static void visit(V& v, const DeclaredLine& l) {
    v.required("op", l.op);
    v.required("kernel", l.kernel);
    v.required("numerics", l.numerics, {.about = "as declared"});
    v.required("cases", l.cases, {.about = "that passed and compared something"});
    v.required("spare", l.spare, {.about = "words of the numerics that no case needs"});
    v.required("fits", l.fits, {.about = "the numerics without them"});
    std::optional<double> most_error;
    if (l.f32_cases > 0) most_error = l.most_error;
    v.optional("most_error", most_error,
               {.about = "the largest rms error of a case in f32, in units of what the numerics predict", .form = form::kSize});
  }
};

template <>
struct Fields<SuggestedLine> {
  template <class V>
  static void visit(V& v, const SuggestedLine& l) {
    v.required("op", l.op);
    v.required("kernel", l.kernel);
    v.required("cases", l.cases, {.about = "that compared something"});
    v.optional("numerics", l.numerics, {.about = "missing where none of the declarations fits"});
  }
};

template <>
struct Fields<Shrunk::Reruns> {
  static constexpr std::string_view kDef = "reruns";
  static constexpr std::string_view kAbout = "how often a failing case was run again, and failed in the same way";
  template <class V, class R>
  static void visit(V& v, R& r) {
    v.required("run", r.run);
    v.required("failed", r.failed);
  }
};

// The smallest case that fails like a larger one.
struct RecordedSmallest {
  std::string repro{};
  Verdict verdict = Verdict::failed;
  std::string reason{}, pattern{}, reads_like{};
};
template <>
struct Fields<RecordedSmallest> {
  template <class V, class S>
  static void visit(V& v, S& s) {
    v.required("repro", s.repro);
    v.required("verdict", s.verdict, {.form = R"({"enum": ["failed", "crashed", "timeout"]})"});
    v.required("reason", s.reason);
    v.optional("pattern", s.pattern);
    v.optional("reads_like", s.reads_like);
  }
};

template <>
struct Fields<Shrunk> {
  template <class V>
  static void visit(V& v, const Shrunk& s) {
    v.required("of", s.of, {.about = "its repro line"});
    v.optional("label", s.label,
               {.about = "missing where it was not run again",
                .form = R"({"enum": ["deterministic", "racy", "seed-specific", "needs earlier calls"]})"});
    v.required("same_seed", s.same_seed);
    v.required("other_seeds", s.other_seeds);
    std::optional<RecordedSmallest> smallest;
    if (s.smallest)
      smallest = {s.smallest->repro, s.smallest->verdict, s.smallest->reason, s.smallest->pattern, s.smallest->reads_like};
    v.optional("smallest", smallest,
               {.about = "the smallest case found that fails in the same way; missing where none is smaller"});
    v.optional("after", s.after,
               {.about = "repro lines of cases that must be judged before it in the same process, for it to fail"});
    v.required("tried", s.tried, {.about = "smaller cases"});
    v.required("seconds", s.seconds, {.form = form::kSize});
  }
};

}  // namespace assay
