// SPDX-License-Identifier: Apache-2.0
// The records of a run (its head, one per case and kernel, its end) and the files that hold them (reports/schema.json).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/contract.hpp"
#include "validate/cases/case.hpp"
#include "validate/records/policy.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

inline constexpr int kSchemaVersion = 1;

enum class Verdict { passed, failed, crashed, timeout, skipped, unsupported, suspect };
inline constexpr std::string_view kVerdicts[] = {"passed", "failed", "crashed", "timeout", "skipped", "unsupported", "suspect"};
constexpr std::string_view name(Verdict v) { return kVerdicts[static_cast<int>(v)]; }
// Whether the verdict makes a run fail.
constexpr bool is_bad(Verdict v) {
  return v == Verdict::failed || v == Verdict::crashed || v == Verdict::timeout || v == Verdict::suspect;
}

// A group of checks (docs/judging.md).  T0: exact probes; T1: the bound; T2: aggregate checks and power; T3: relations; T4: side
// effects, and differences between runs; watch: races and reads of unwritten memory, which only simt finds.
enum class Tier { T0, T1, T2, T3, T4, watch };
inline constexpr std::array<std::string_view, 6> kTiers{"T0", "T1", "T2", "T3", "T4", "watch"};
constexpr std::string_view name(Tier t) { return kTiers[static_cast<std::size_t>(t)]; }

struct Record {
  std::string kernel;
  std::string backend;
  std::string numerics;                  // as the kernel declares them (numerics_text.hpp)
  std::string held_to;                   // the default in words, if the kernel declares none
  std::string loaded;                    // of a kernel that is not built in: the flags that load it (Loaded::flags)
  std::string code;                      // and the hash of its code; empty: unknown
  std::string fidelity;                  // and how closely its worker does what a GPU does, in words
  std::string given;                     // of tensors that were given: what judges them again, after "validate "
  std::vector<std::string> not_checked;  // what its worker does not check (Loaded::not_checked), or a file cannot show
  Case c;
  Verdict verdict = Verdict::passed;
  std::string reason;           // one sentence; a passed case has one if it proves nothing
  std::vector<Tier> caught_by;  // tiers of all checks that found something; the reason's tier comes first
  bool exact = false;           // an exact probe: every element had to equal the golden rounded to the dtype
  bool multi_tile_ragged = false;
  std::int64_t compared = 0, wrong = 0;
  std::int64_t loose = 0;  // elements whose right value is no zero, though a zero would pass; 0 of sums no finer than the output
  std::optional<double> margin;  // max err/bound; none if nothing was compared
  double max_abs_error = 0;      // of finite elements, against the golden in f64
  struct Worst {
    std::string tensor;
    std::vector<std::int64_t> index;
    double got, golden, bound;
    std::string tile{};  // "first of query tile 1 (queries 128..255)", if the element is wrong and there are several tiles
  };
  std::optional<Worst> worst;
  std::map<std::string, double> stages;    // of a composite op, by output: max err/bound of the stage that wrote it
  std::optional<double> end_to_end;        // of a composite op: relative error of the first output (composite.hpp)
  std::string pattern;                     // what the wrong elements have in common
  std::string reads_like;                  // what usually causes such a pattern
  std::vector<std::string> would_pass;     // words of numerics, each of which would make the wrong outputs right; tightest first
  std::optional<bool> deterministic;       // whether both runs gave the same bits
  std::optional<std::uint64_t> digest;     // of the outputs' bits
  std::int64_t rows = 0;                   // of the first output
  std::vector<std::int64_t> rows_checked;  // rows compared with the golden; empty: all
  std::optional<double> sweep_margin;      // err/bound of the sweep, if the golden is sampled (Hooks::sweep)
  std::optional<double> rms_ratio, bias;   // of the first output, in units of the predicted rms error (aggregate.hpp)
  std::vector<std::string> relations;      // names of the relations that were checked
  Cost cost;
  std::map<std::string, Traffic> traffic;  // by tensor, if the backend counts
  std::vector<SiteTraffic> sites;          // by source line, if the backend counts; printed, not recorded
  double memory = 0;                       // bytes that judging it was estimated to take; printed, not recorded
  double seconds = 0;                      // of the candidate's first run, by the worker's clock
  std::string repro;
  std::map<std::string, bool> faults;         // of power: those tried on this case, and whether the bound rejected each
  bool incomplete = false;                    // requested but not judged: no time, no memory, not watchable, a faulty machine
  bool call_failed = false;                   // an error, crash or hang, which any caller of the kernel notices
  std::vector<PolicyFigures> policy_figures;  // of each output, if requested
  std::map<std::string_view, bool> policies;  // by policy: whether the case passes it

  void caught(Tier t);  // adds the tier, once
};

struct RunHead {
  std::string version, commit, compiler, build;
  std::string backend, device, host, date;
  std::string driver;  // version of the GPU's driver; empty: unknown
  std::string suite;
  std::uint64_t seed = 0;
  std::string sandbox;                           // what confines the workers, in words; empty: the command has none
  std::map<std::string, std::string> libraries;  // versions of the vendor's libraries in use, by name
  std::map<std::string, std::string> judges;     // versions of the judge, by op (judge_hash())
  std::string suites;                            // version of the suites (suites_hash())
  // What the run judges, so that it can be resumed and merged; empty for other commands than run.
  struct Plan {
    std::string selection;                       // the flags that chose it: "--suite smoke --seed 2026 --op softmax"
    std::string shard;                           // "1/4"; empty: all
    std::int64_t cases = 0;                      // records to come
    std::uint64_t digest = 0;                    // of their repro lines, in any order
    std::map<std::string, std::string> kernels;  // code hashes, by "op/kernel"
  };
  std::optional<Plan> plan;
};

struct Tally {
  std::map<Verdict, std::int64_t> of;
  std::int64_t total = 0, ragged = 0;  // ragged: cases that ran with several tiles and a ragged tail
  double seconds = 0;
  // Seconds summed over threads and workers: orders, inputs and goldens, judging, power.
  struct Work {
    double workers = 0, goldens = 0, judging = 0, power = 0;
  } work;
  std::int64_t incomplete = 0;   // records with Record::incomplete
  std::int64_t unwatchable = 0;  // of these, kernels that store without st()
  bool lax = false;              // a kernel took few of its cases, or declares what no case needs: --strict does not accept it
  bool interrupted = false;
  std::vector<std::string> missing;  // of merged records: what no file has, like "shard 3/4"
  void add(const Record& r);
  void add(const Tally& more);                      // its counts, not its times
  void add_powerless() { ++of[Verdict::suspect]; }  // counts a fault that no case of the run rejects (power.hpp)
  std::int64_t count(Verdict v) const;
  std::int64_t bad() const;
  std::int64_t ran() const { return total - count(Verdict::skipped) - count(Verdict::unsupported); }
  // "312 passed · 0 failed · 0 suspect · 24 unsupported as declared · 17.9 s"
  std::string sentence() const;
};

std::string to_json(const RunHead&);
std::string to_json(const Record&);
std::string to_json(const Tally&);
std::string traffic_line(const Record&);  // a case that was run for its byte counts

// Reads a `case` record of that case back; to_json() of it gives the same line.  Throws BadInput.
Record record_of(const nlohmann::ordered_json& j, const Case& c);
// Reads an `end` record back, but for the counts of its cases.  Throws BadInput.
Tally tally_of(const nlohmann::ordered_json& j);

// What the verdict holds the kernel to: the default in words, or what it declares.  Empty for a built-in kernel, whose source
// says it.
std::string held_to_text(const Record&);
std::string digest_text(const Record&);  // 16 hexadecimal digits, or empty

}  // namespace assay
