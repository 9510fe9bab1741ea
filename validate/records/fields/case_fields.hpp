// SPDX-License-Identifier: Apache-2.0
// The fields of a `case` record, and of a `traffic` record, which has the same.
#pragma once

#include <fmt/format.h>

#include <charconv>

#include "validate/base/error.hpp"
#include "validate/records/fields/bytes_fields.hpp"
#include "validate/records/fields/words.hpp"
#include "validate/records/record.hpp"

namespace assay {

// The extents of a case: those that are not 0, and those that its repro line names.
inline Pairs<std::int64_t> recorded_axes(const Case& c, const std::string& repro) {
  Pairs<std::int64_t> extents;
  for (const Dims::Entry& e : c.dims.entries())
    if (e.extent || repro.find(fmt::format(" {}=", e.axis)) != std::string::npos) extents.emplace_back(e.axis, e.extent);
  return extents;
}

template <>
struct Fields<Case::Reduction> {
  template <class V, class R>
  static void visit(V& v, R& r) {
    v.required("axis", r.axis);
    v.required("from", r.from);
    v.required("to", r.to);
  }
};

template <>
struct Fields<Record::Worst> {
  static constexpr std::string_view kDef = "worst", kAbout = "the element of that margin";
  template <class V, class W>
  static void visit(V& v, W& w) {
    v.required("tensor", w.tensor);
    v.required("index", w.index);
    v.required("got", w.got);
    v.required("golden", w.golden);
    v.required("bound", w.bound);
    v.optional("tile", w.tile, {.about = "of several: which one of the kernel's, and where in it"});
  }
};

struct RecordedSample {
  std::int64_t rows = 0;
  std::vector<std::int64_t> checked{};
  std::optional<double> sweep_margin{};
};
template <>
struct Fields<RecordedSample> {
  template <class V, class S>
  static void visit(V& v, S& s) {
    v.required("rows", s.rows);
    v.required("checked", s.checked);
    v.optional("sweep_margin", s.sweep_margin,
               {.about = "err/bound of a cheaper check of every row (matrix products: Freivalds)"});
  }
};

template <>
struct Fields<Record> {
  template <class V, class R>
  static void visit(V& v, R& r) {
    v.known("op", r.c.op);
    v.required("kernel", r.kernel);
    v.required("backend", r.backend, {.form = R"({"enum": ["simt", "cuda", "host", "files"]})"});
    v.known("dtype", r.c.dtype);
    v.optional("numerics", r.numerics,
               {.about = "what the kernel declares of its arithmetic (validate describe numerics); missing in older records"});
    v.optional("held_to", r.held_to, {.about = "the default in words, if the kernel declares no numerics"});
    v.optional("loaded", r.loaded, {.about = "of a kernel that is not built in: the flags that load it"});
    v.optional("given", r.given, {.about = "of tensors from a file: what judges them again, as words after validate"});
    visit_not_checked(v, r);
    v.optional("code", r.code,
               {.about = "of a kernel that is not built in: a hash of its code",
                .form = R"({"type": "string", "pattern": "^[0-9a-f]{1,64}$"})"});
    v.optional("fidelity", r.fidelity,
               {.about = "how closely the machine does what a GPU does: exact, contractable or modelled, and the instruction "
                         "that decides it"});
    visit_case(v, r.c, r.repro);
    v.required("verdict", r.verdict);
    v.optional("reason", r.reason, {.about = "one sentence; where it is missing there is nothing to say"});
    v.optional("caught_by", r.caught_by, {.about = "the tiers of every check that found something, that of the reason first"});
    v.known_optional("policies", r.policies,
                     {.about = "rules of other suites that were asked, and whether they let the case pass"});
    v.required("exact", r.exact, {.about = "the answer is exactly representable and had to be met exactly"});
    v.required("multi_tile_ragged", r.multi_tile_ragged, {.about = "more than one of the kernel's tiles, and a ragged last one"});
    v.required("compared", r.compared, {.about = "elements"});
    v.required("wrong", r.wrong, {.about = "elements"});
    visit_loose(v, r);
    visit_errors(v, r);
    v.optional("pattern", r.pattern, {.about = "the wrong elements in words"});
    v.optional("reads_like", r.reads_like, {.about = "what usually makes such a pattern"});
    v.optional("would_pass", r.would_pass,
               {.about = "words of numerics, each of which would make the wrong outputs right if the kernel declared it too; the "
                         "tightest first"});
    v.optional("deterministic", r.deterministic, {.about = "the runs agreed bit for bit"});
    visit_digest(v, r);
    visit_sample(v, r);
    v.optional("rms_ratio", r.rms_ratio,
               {.about = "the rms error of the first output over the rms that the declared numerics predict"});
    v.optional("bias", r.bias, {.about = "its mean error in the same unit, towards zero or of one sign"});
    v.optional("relations", r.relations, {.about = "those that were tried with inputs made from the case's"});
    v.optional("faults", r.faults,
               {.about = "of power: those that were tried on this case, and whether the bound rejected each"});
    v.optional("incomplete", r.incomplete, {.about = "the case was asked for and not judged, as the end counts it"});
    v.required("flops", r.cost.flops, {.form = form::kSize});
    visit_bytes(v, r);
    v.required("seconds", r.seconds,
               {.about = "of the candidate's first run, by the worker's clock; a simulator's are no measure of a kernel",
                .form = form::kSize});
    v.required("repro", r.repro, {.about = "what validate replay takes"});
  }

 private:
  // Note: of a kernel that was loaded, an empty list says that all is checked.
  template <class V, class R>
  static void visit_not_checked(V& v, R& r) {
    std::optional<std::vector<std::string>> all;
    if (!r.loaded.empty() || !r.not_checked.empty()) all = r.not_checked;
    v.optional("not_checked", all,
               {.about = "what neither the judge nor the kernel's worker checks; missing in older records of built-in kernels; "
                         "output NAME: one that nobody gave",
                .form = R"({"type": "array", "items": {"type": "string", "pattern":
                  "^(bounds|inputs|reads|races|uninitialised|traffic|plain|second_run|relations|together|output [a-z_0-9]+)$"}})"});
    if constexpr (V::kReads) r.not_checked = all.value_or(std::vector<std::string>{});
  }
  // What makes the case; who reads a record back has it from the repro line.
  template <class V>
  static void visit_case(V& v, const Case& c, const std::string& repro) {
    v.known("axes", recorded_axes(c, repro), {.about = "the extent of each of the op's axes"});
    v.known("attributes", c.attributes, {.about = "those that are not at their default"});
    v.known("fill", c.fill);
    v.known("layout", c.layout);
    v.known("seed", c.seed);
    v.known("source", c.source, {.about = "where the case comes from: edges/common, models/gpt2-124m, random"});
    v.known_optional("reduced", c.reduced, {.about = "axes made shorter for a slow backend"});
  }
  template <class V, class R>
  static void visit_loose(V& v, R& r) {
    std::optional<std::int64_t> loose;
    if (r.loose) loose = r.loose;
    v.optional(
        "loose", loose,
        {.about =
             "elements whose right value is no zero, though a zero would pass; missing: none, or sums no finer than the output"});
    if constexpr (V::kReads) r.loose = loose.value_or(0);
  }
  template <class V, class R>
  static void visit_errors(V& v, R& r) {
    v.optional("margin", r.margin, {.about = "the largest err/bound; missing where nothing was compared"});
    std::optional<double> max_abs_error;
    if (r.margin) max_abs_error = r.max_abs_error;
    v.optional(
        "max_abs_error", max_abs_error,
        {.about = "the largest |got - golden| of finite elements, the golden in f64; beside a margin", .form = form::kSize});
    if constexpr (V::kReads) r.max_abs_error = max_abs_error.value_or(0);
    v.optional("worst", r.worst);
    v.optional(
        "stages", r.stages,
        {.about = "of an op that is made of others, by output: the largest err/bound of the step that made it, judged from "
                  "what the candidate itself had stored before"});
    v.optional("end_to_end", r.end_to_end,
               {.about = "and the relative error of its first output from the inputs on (Frobenius norm); not judged"});
  }
  template <class V, class R>
  static void visit_digest(V& v, R& r) {
    std::string text = digest_text(r);
    v.optional("digest", text, {.about = "of the bits of every output element, NaNs of any payload alike", .form = form::kHash});
    if constexpr (V::kReads) {
      if (text.empty()) return;
      std::uint64_t bits = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
      if (error != std::errc() || end != text.data() + text.size()) throw BadInput("the field 'digest' is not a hash");
      r.digest = bits;
    }
  }
  template <class V, class R>
  static void visit_sample(V& v, R& r) {
    std::optional<RecordedSample> sample;
    if (!r.rows_checked.empty() || r.sweep_margin) sample = {r.rows, r.rows_checked, r.sweep_margin};
    v.optional("sampled", sample,
               {.about = "a golden of all rows would have cost too much: the rows of the first output (all axes but the last, "
                         "row-major) that were checked"});
    if constexpr (V::kReads) {
      if (!sample) return;
      r.rows = sample->rows;
      r.rows_checked = sample->checked;
      r.sweep_margin = sample->sweep_margin;
    }
  }
  template <class V, class R>
  static void visit_bytes(V& v, R& r) {
    RecordedBytes bytes{r.cost.bytes(), r.cost.unfused_bytes, r.traffic};
    v.required("bytes", bytes);
    if constexpr (V::kReads) {
      r.cost.bytes_read = bytes.formula;
      r.cost.unfused_bytes = bytes.unfused_formula;
      r.traffic = bytes.counted;
    }
  }
};

}  // namespace assay
