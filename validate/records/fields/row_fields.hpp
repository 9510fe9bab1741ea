// SPDX-License-Identifier: Apache-2.0
// What records of a kernel on a row of bench have in common: which kernel and row it is, its functions, their times.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "validate/records/fields/bytes_fields.hpp"
#include "validate/records/fields/words.hpp"
#include "validate/records/stats.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

namespace form {
inline constexpr std::string_view kOnCuda = R"({"const": "cuda"})";
inline constexpr std::string_view kShare = R"({"$ref": "#/$defs/share"})";  // 0 to 1
inline constexpr std::string_view kOneOrMore = R"({"type": "integer", "minimum": 1})";
inline constexpr std::string_view kSizesOfEach =
    R"({"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/size"}}})";
}  // namespace form

// The place of a row in a suite.
struct RecordedPlace {
  std::string name{}, table{}, label{};
  nlohmann::ordered_json reported = nlohmann::ordered_json::object();  // numbers and texts, as its document has them
};
template <>
struct Fields<RecordedPlace> {
  static constexpr std::string_view kDef = "suite";
  static constexpr std::string_view kAbout =
      "where the row stands in a suite of datasets/bench/suites, and what its document reported";
  template <class V, class P>
  static void visit(V& v, P& p) {
    v.required("name", p.name);
    v.required("table", p.table, {.about = "its title"});
    v.required("label", p.label);
    v.required("reported", p.reported, {.form = R"({"type": "object", "additionalProperties": {"type": ["number", "string"]}})"});
  }
};

// A kernel on a row: the fields with which its records begin.
struct RecordedRow {
  std::string op{}, kernel{}, backend{};
  DType dtype = DType::f32;
  std::string shape{}, loaded{};
  std::optional<RecordedPlace> suite{};

  template <class V, class R>
  static void visit(V& v, R& r) {
    visit_names(v, r, form::kOnCuda);
    v.optional("loaded", r.loaded, {.about = "of a plugin's kernel: the flags that load it"});
    v.optional("suite", r.suite);
  }
  template <class V, class R>
  static void visit_names(V& v, R& r, std::string_view backends) {
    v.required("op", r.op);
    v.required("kernel", r.kernel);
    v.required("backend", r.backend, {.form = backends});
    v.required("dtype", r.dtype);
    v.required("shape", r.shape, {.about = "axes, as in a repro line"});
  }
};

// Statistics of times.
struct RecordedTimes {
  Summary of{};
  std::optional<std::int64_t> launches{};
  std::optional<bool> graph{};
};
template <>
struct Fields<RecordedTimes> {
  static constexpr std::string_view kDef = "times", kAbout{};
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.required("median", t.of.p50, {.form = form::kSize});
    v.required("p5", t.of.p5, {.form = form::kSize});
    v.required("p95", t.of.p95, {.form = form::kSize});
    v.required("min", t.of.min, {.form = form::kSize});
    v.required("max", t.of.max, {.form = form::kSize});
    v.added("mean", t.of.mean, {.form = form::kSize});
    v.added("std", t.of.std, {.form = form::kSize});
    v.required("samples", t.of.n, {.form = form::kOneOrMore});
    v.optional("p99", t.of.p99, {.about = "of 1000 samples or more", .form = form::kSize});
    v.optional("launches", t.launches, {.form = form::kOneOrMore});
    v.optional("graph", t.graph);
  }
};

template <>
struct Fields<DramBytes> {
  template <class V, class D>
  static void visit(V& v, D& d) {
    double read = std::round(d.read), written = std::round(d.written);
    v.required("read_bytes", read, {.form = form::kSize});
    v.required("written_bytes", written, {.form = form::kSize});
    if constexpr (V::kReads) d = {read, written};
  }
};

template <>
struct Fields<LaunchedFunction> {
  template <class V, class F>
  static void visit(V& v, F& f) {
    v.required("function", f.name, {.about = "its name without the namespaces that all share"});
    v.required("registers", f.registers, {.about = "of a thread"});
    v.required("static_shared", f.static_shared, {.about = "bytes of a block"});
    v.required("dynamic_shared", f.dynamic_shared, {.about = "bytes of a block"});
    v.required("local_bytes", f.local_bytes, {.about = "of a thread: stack and spills"});
    v.required("threads", f.threads, {.about = "of a block"});
    v.required("blocks", f.blocks, {.about = "of the grid"});
    v.required("blocks_per_sm", f.blocks_per_sm, {.about = "that fit at once"});
    v.required("occupancy", f.occupancy,
               {.about = "the share of a multiprocessor's threads that they are", .form = form::kShare});
  }
};
inline constexpr std::string_view kAboutFunctions =
    "what each function that the kernel's launcher launches takes of a multiprocessor, in order; those of a library are not seen";

// A function of the device that a call put there, in older records.
struct RecordedCall {
  std::string function{};
  std::int64_t blocks = 0;
  std::optional<double> us{};
};
template <>
struct Fields<RecordedCall> {
  template <class V, class C>
  static void visit(V& v, C& c) {
    v.required("function", c.function,
               {.about = "its name without its arguments", .form = R"({"type": "string", "pattern": "."})"});
    v.required("blocks", c.blocks, {.about = "of the grid; of a memset 0"});
    v.optional("us", c.us, {.about = "that it took in that one call", .form = form::kSize});
  }
};
inline constexpr std::string_view kAboutCalls =
    "of older records: the functions of the device that one call put there, in order, a library's too, by CUPTI's records of "
    "them after the timing";

}  // namespace assay
