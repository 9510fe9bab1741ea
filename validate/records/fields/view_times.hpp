// SPDX-License-Identifier: Apache-2.0
// What `compare` and `report` read of records with times.
#pragma once

#include <fmt/format.h>

#include "validate/base/error.hpp"
#include "validate/records/fields/bench_fields.hpp"
#include "validate/records/recorded.hpp"

namespace assay {

template <>
struct Fields<SuitePlace> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class P>
  static void visit(V& v, P& p) {
    v.required("name", p.name);
    v.optional("table", p.table);
    v.optional("label", p.label);
    nlohmann::ordered_json reported = nlohmann::ordered_json::object();
    v.optional("reported", reported);
    if constexpr (V::kReads)
      for (const auto& [key, said] : reported.items())
        if (!said.is_null()) p.reported.emplace_back(key, said.is_string() ? said.template get<std::string>() : said.dump());
  }
};

// What a time was taken of.  A rest before each launch, or a clean cache, makes it another row, so that no comparison mixes the
// two.
struct TimedProblem {
  std::string op{}, kernel{}, dtype{}, shape{}, l2{};
  std::optional<double> rest_s{};

  template <class V, class P>
  static void visit(V& v, P& p) {
    v.required("op", p.op);
    v.required("kernel", p.kernel);
    v.required("dtype", p.dtype);
    v.required("shape", p.shape);
    v.optional("rest_s", p.rest_s);
  }
  std::string timed_shape() const {
    const std::string text = l2 == "clean" ? shape + " (clean L2)" : shape;
    return rest_s.value_or(0) > 0 ? fmt::format("{} (after {} s of rest)", text, *rest_s) : text;
  }
  template <class Row>
  void name(Row& row) const {
    row.op = op;
    row.kernel = kernel;
    row.dtype = dtype;
    row.shape = timed_shape();
  }
};

template <>
struct Fields<Timing> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class T>
  static void visit(V& v, T& t) {
    TimedProblem problem;
    TimedProblem::visit(v, problem);
    v.required("what", t.what);
    v.required("source", t.source);
    std::optional<RecordedTimes> times;
    v.optional("time_us", times);
    v.optional("samples_us", t.samples);
    v.optional("left_out", t.left_out);
    v.either("time_us", "left_out");
    if constexpr (V::kReads) {
      problem.name(t);
      if (times) t.time_us = times->of;
    }
  }
};

template <>
struct Fields<FunctionResources> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class F>
  static void visit(V& v, F& f) {
    v.required("function", f.function);
    v.optional("registers", f.registers);
    v.optional("static_shared", f.static_shared);
    v.optional("dynamic_shared", f.dynamic_shared);
    v.optional("local_bytes", f.local_bytes);
    v.optional("threads", f.threads);
    v.optional("blocks", f.blocks);
    v.optional("blocks_per_sm", f.blocks_per_sm);
    v.optional("occupancy", f.occupancy);
  }
};

// The most device memory that a kernel had in use.
struct PeakMemory {
  double peak = 0;
};
template <>
struct Fields<PeakMemory> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class M>
  static void visit(V& v, M& m) {
    v.required("peak", m.peak);
  }
};
// The time of launches that follow each other.
struct SteadyTime {
  double median = 0;
};
template <>
struct Fields<SteadyTime> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.required("median", t.median);
  }
};

template <>
struct Fields<TimedRow> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class R>
  static void visit(V& v, R& r) {
    TimedProblem problem;
    TimedProblem::visit(v, problem);
    v.optional("l2", problem.l2);
    RecordedTimes times;
    v.required("time_us", times);
    v.optional("samples_us", r.samples);
    std::optional<SteadyTime> steady;
    v.optional("steady_us", steady);
    v.optional("score", r.score);
    v.required("flops", r.flops);
    RecordedBytes bytes;
    v.required("bytes", bytes);
    v.required("copy_rate_bytes_per_s", r.copy_rate);
    v.optional("matrix_rate_flops_per_s", r.matrix_rate);
    v.optional("limit", r.limit);
    visit_ratios(v, r);
    std::optional<PeakMemory> memory;
    v.optional("device_bytes", memory);
    v.optional("planted", r.planted);
    v.optional("code", r.code);
    v.optional("machine", r.machine);
    v.optional("suite", r.suite);
    v.optional("step", r.step);
    v.optional("dram", r.dram);
    v.optional("resources", r.resources);
    if constexpr (V::kReads) {
      problem.name(r);
      r.time_us = times.of;
      if (steady) r.steady_us = steady->median;
      r.bytes = bytes.formula;
      r.unfused_bytes = bytes.unfused_formula;
      if (memory) r.peak_bytes = memory->peak;
    }
  }

 private:
  template <class V, class R>
  static void visit_ratios(V& v, R& r) {
    std::optional<double> share_of_limit, share_of_copy, speedup;
    std::optional<std::map<std::string, double>> speedups;
    std::map<std::string, std::vector<double>> intervals;
    std::string baseline;
    v.optional("share_of_limit", share_of_limit);
    v.optional("share_of_copy", share_of_copy);
    v.optional("baseline", baseline);
    v.optional("speedup", speedup);
    v.optional("speedups", speedups);
    v.optional("speedup_intervals", intervals);
    if constexpr (V::kReads) {
      if (!share_of_limit && !share_of_copy) throw BadInput("the field 'share_of_limit' is missing");
      r.share_of_limit = share_of_limit ? *share_of_limit : *share_of_copy;
      if (speedups) r.speedups = *speedups;
      else if (speedup) r.speedups[baseline] = *speedup;
      for (const auto& [reference, ends] : intervals) {
        if (ends.size() < 2) throw BadInput(fmt::format("the interval of '{}' has not two ends", reference));
        r.intervals[reference] = {ends[0], ends[1]};
      }
    }
  }
};

template <>
struct Fields<DecodeTimes::Kind> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class K>
  static void visit(V& v, K& k) {
    v.required("op", k.op);
    v.required("kernel", k.kernel);
    v.required("name", k.name);
    v.required("count", k.count);
    v.required("us", k.us);
    v.required("bytes", k.bytes);
  }
};
template <>
struct Fields<DecodeTimes> {
  static constexpr std::string_view kDef{}, kAbout{};
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.required("config", t.config);
    v.required("dtype", t.dtype);
    v.required("prompt", t.prompt);
    v.required("batch", t.batch);
    v.required("token_s", t.token_s);
    v.required("tokens_s", t.tokens_s);
    v.required("floor_share", t.floor_share);
    v.required("copy_rate", t.copy_rate);
    v.required("steps", t.kinds);
  }
};

}  // namespace assay
