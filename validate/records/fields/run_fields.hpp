// SPDX-License-Identifier: Apache-2.0
// The fields of the first record of a file, `run`, and of the last one, `end`.
#pragma once

#include <fmt/format.h>

#include "validate/records/fields/fields.hpp"
#include "validate/records/fields/words.hpp"
#include "validate/records/record.hpp"

namespace assay {

// Why a file became a baseline.
struct AcceptedRun {
  std::string reason{}, date{}, replaces{};
};
template <>
struct Fields<AcceptedRun> {
  template <class V, class A>
  static void visit(V& v, A& a) {
    v.required("reason", a.reason);
    v.required("date", a.date);
    v.optional("replaces", a.replaces);
  }
};

template <>
struct Fields<RunHead> {
  template <class V>
  static void visit(V& v, const RunHead& h) {
    v.required("schema", kSchemaVersion, {.form = R"({"const": 1})"});
    v.required("version", h.version);
    v.required("commit", h.commit, {.about = "of the source tree when it was built; -dirty where it had changes"});
    v.required("compiler", h.compiler);
    v.required("build", h.build);
    v.required("backend", h.backend,
               {.about = "files: of outputs in a file; cpu: of timings of another program alone",
                .form = R"({"enum": ["simt", "cuda", "host", "files", "cpu"]})"});
    v.required("device", h.device);
    v.required("host", h.host);
    v.required("date", h.date, {.about = "UTC, ISO 8601"});
    v.required("suite", h.suite);
    v.required("seed", h.seed);
    v.optional("driver", h.driver, {.about = "the GPU's"});
    v.optional(
        "sandbox", h.sandbox,
        {.about = "what confined the workers, such as 'landlock 7, seccomp', with 'with network' at its end if programs had "
                  "it; or why nothing did: 'off: --no-sandbox'"});
    v.optional("libraries", h.libraries, {.about = "a vendor's that the baselines call, by name: the version found"});
    v.optional("judges", h.judges,
               {.about = "by op: the version of its judge, a hash of all that decides a verdict besides the kernel and the case",
                .form = R"({"type": "object", "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{16}$"}})"});
    v.optional("suites", h.suites,
               {.about = "the version of the suites, a hash of what decides which cases there are", .form = form::kHash});
    visit_plan(v, h.plan);
    // `compare --accept` and `merge` add these to the head of another run.
    v.optional("accepted", std::optional<AcceptedRun>(),
               {.about = "of a baseline: why it became one, and the commit of the one before"});
    v.optional("merged", std::optional<std::int64_t>(), {.about = "of merge: from how many shards"});
  }

 private:
  template <class V>
  static void visit_plan(V& v, const std::optional<RunHead::Plan>& plan) {
    std::optional<std::string> selection, digest;
    std::optional<std::int64_t> cases;
    std::optional<std::map<std::string, std::string>> kernels;
    std::string shard;
    if (plan) {
      selection = plan->selection;
      shard = plan->shard;
      cases = plan->cases;
      digest = fmt::format("{:016x}", plan->digest);
      kernels = plan->kernels;
    }
    v.optional("selection", selection, {.about = "of run: the flags that chose its cases, kernels and checks"});
    v.optional("shard", shard,
               {.about = "of run --shard: which part", .form = R"({"type": "string", "pattern": "^[0-9]+/[0-9]+$"})"});
    v.optional("cases", cases, {.about = "of run: the case records to come"});
    v.optional("plan", digest, {.about = "of run: a hash of their repro lines, in any order", .form = form::kHash});
    v.optional("kernels", kernels, {.about = "of run: the code hash of each kernel, by op/kernel"});
  }
};

template <>
struct Fields<Tally::Work> {
  template <class V, class W>
  static void visit(V& v, W& w) {
    v.added("workers", w.workers, {.form = form::kSize});
    v.added("goldens", w.goldens, {.form = form::kSize});
    v.added("judging", w.judging, {.form = form::kSize});
    v.added("power", w.power, {.form = form::kSize});
  }
};

// Records by verdict.
struct RecordedVerdicts {
  std::map<Verdict, std::int64_t> of{};
};
template <>
struct Fields<RecordedVerdicts> {
  template <class V>
  static void visit(V& v, const RecordedVerdicts& counts) {
    for (std::size_t i = 0; i < std::size(kVerdicts); ++i) {
      const auto at = counts.of.find(static_cast<Verdict>(i));
      v.required(kVerdicts[i], at == counts.of.end() ? std::int64_t{0} : at->second);
    }
  }
};

template <>
struct Fields<Tally> {
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.known("verdicts", RecordedVerdicts{t.of});
    v.known("multi_tile_ragged", t.ragged);
    v.required("seconds", t.seconds, {.form = form::kSize});
    v.added("work_seconds", t.work, {.about = "of all threads together"});
    v.added("incomplete", t.incomplete,
            {.about = "cases that were asked for and not judged: no time or memory, no way to watch, a fault of the machine"});
    v.required("interrupted", t.interrupted);
    v.optional("missing", t.missing, {.about = "of merge: what no file has: a shard, or cases of one"});
  }
};

}  // namespace assay
