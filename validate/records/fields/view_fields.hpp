// SPDX-License-Identifier: Apache-2.0
// What `compare` and `report` read of records: some of the fields, which have their names here and all else where they are
// written.  A test checks that each is one of the schema's.
#pragma once

#include "validate/records/fields/bench_fields.hpp"
#include "validate/records/fields/case_fields.hpp"
#include "validate/records/fields/line_fields.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/run_fields.hpp"
#include "validate/records/recorded.hpp"

namespace assay {

template <>
struct Fields<RecordFile> {  // of its `run`
  template <class V, class F>
  static void visit(V& v, F& f) {
    v.required("version", f.version);
    v.required("commit", f.commit);
    v.required("compiler", f.compiler);
    v.required("build", f.build);
    v.required("backend", f.backend);
    v.required("device", f.device);
    v.required("host", f.host);
    v.required("date", f.date);
    v.required("suite", f.suite);
    v.optional("driver", f.driver);
    v.optional("cases", f.planned);
    v.optional("libraries", f.libraries);
    v.optional("kernels", f.kernels);
    v.optional("judges", f.judges);
    v.optional("suites", f.suites);
    v.optional("sandbox", f.sandbox);
    std::optional<AcceptedRun> accepted;
    v.optional("accepted", accepted);
    if constexpr (V::kReads)
      if (accepted) f.accepted = accepted->reason;
  }
};

template <>
struct Fields<JudgedCase> {
  template <class V, class C>
  static void visit(V& v, C& c) {
    v.required("op", c.op);
    v.required("kernel", c.kernel);
    v.required("dtype", c.dtype);
    v.required("verdict", c.verdict);
    v.optional("reason", c.reason);
    v.optional("pattern", c.pattern);
    v.optional("reads_like", c.reads_like);
    v.required("repro", c.repro);
    v.optional("digest", c.digest);
    v.optional("source", c.source);
    v.optional("loaded", c.loaded);
    v.optional("code", c.code);
    v.optional("numerics", c.numerics);
    v.optional("not_checked", c.not_checked);
    v.optional("caught_by", c.caught_by);
    v.optional("would_pass", c.would_pass);
    v.optional("margin", c.margin);
    v.optional("max_abs_error", c.max_abs_error);
    v.optional("deterministic", c.deterministic);
    std::optional<std::int64_t> wrong;
    std::optional<WorstElement> worst;
    v.optional("wrong", wrong);
    v.optional("worst", worst);
    if constexpr (V::kReads)
      if (wrong.value_or(0) > 0) c.worst = std::move(worst);
  }
};

template <>
struct Fields<ShrunkCase> {
  template <class V, class C>
  static void visit(V& v, C& c) {
    v.required("of", c.of);
    v.optional("label", c.label);
    std::optional<RecordedSmallest> smallest;
    v.optional("smallest", smallest);
    std::vector<std::string> after;
    v.optional("after", after);
    if constexpr (V::kReads) {
      if (smallest) {
        c.smallest = smallest->repro;
        c.reads_like = smallest->reads_like;
      }
      c.after = after.size();
    }
    v.required("same_seed", c.same_seed);
    v.required("other_seeds", c.other_seeds);
  }
};

template <>
struct Fields<PlantedFault> {
  template <class V, class F>
  static void visit(V& v, F& f) {
    v.required("op", f.op);
    v.required("kernel", f.kernel);
    v.required("dtype", f.dtype);
    v.required("fault", f.fault);
    v.required("tried", f.tried);
    std::string verdict;
    v.required("verdict", verdict);
    if constexpr (V::kReads) f.rejected = verdict == "passed";
  }
};

// Why not all cases of a run are there, as its end tells.
struct RunEnd {
  bool interrupted = false;
  std::vector<std::string> missing{};
  std::int64_t incomplete = 0;
};
template <>
struct Fields<RunEnd> {
  template <class V, class E>
  static void visit(V& v, E& e) {
    v.optional("interrupted", e.interrupted);
    v.optional("missing", e.missing);
    v.optional("incomplete", e.incomplete);
  }
};

template <>
struct Fields<CountedTraffic> {
  static constexpr double kSectorBytes = 32;
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.required("op", t.op);
    v.required("kernel", t.kernel);
    v.required("dtype", t.dtype);
    v.required("repro", t.repro);
    RecordedBytes bytes;
    v.required("bytes", bytes);
    if constexpr (V::kReads) {
      t.formula = bytes.formula;
      t.unfused_formula = bytes.unfused_formula;
      double unique = 0, requested = 0, sectors = 0;
      for (const auto& [tensor, c] : bytes.counted) {
        unique += static_cast<double>(c.unique_read_bytes) + static_cast<double>(c.unique_written_bytes);
        requested += static_cast<double>(c.read_bytes) + static_cast<double>(c.written_bytes);
        sectors += static_cast<double>(c.read_sectors) + static_cast<double>(c.written_sectors);
      }
      if (unique > 0) t.unique = unique;
      if (requested > 0) t.requested = requested;
      if (sectors > 0) t.sectors = kSectorBytes * sectors;
    }
  }
};

template <>
struct Fields<LeftOut> {
  template <class V, class L>
  static void visit(V& v, L& l) {
    v.required("op", l.op);
    v.required("kernel", l.kernel);
    v.required("dtype", l.dtype);
    v.required("shape", l.shape);
    v.required("reason", l.reason);
    v.optional("suite", l.suite);
  }
};

template <>
struct Fields<DecodeTimes> {
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
