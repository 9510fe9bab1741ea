// SPDX-License-Identifier: Apache-2.0
// One record per case, and the head and the end of a run.  Every rendering is made from these (reports/schema.json).
#pragma once

#include <cstdint>
#include <map>
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
// Whether the verdict turns a run red.  `unsupported` is given only to what a kernel declared.
constexpr bool is_bad(Verdict v) {
  return v == Verdict::failed || v == Verdict::crashed || v == Verdict::timeout || v == Verdict::suspect;
}

// The check that found something (docs/numerics.md).  T0: exact probes; T1: the bound; T2: aggregates and power; T3: relations;
// T4: side effects, and differences between runs; watch: the memory checker of the simulated machine.
enum class Tier { T0, T1, T2, T3, T4, watch };
inline constexpr std::array<std::string_view, 6> kTiers{"T0", "T1", "T2", "T3", "T4", "watch"};
constexpr std::string_view name(Tier t) { return kTiers[static_cast<std::size_t>(t)]; }

struct Record {
  std::string kernel;
  std::string backend;
  Case c;
  Verdict verdict = Verdict::passed;
  std::string reason;           // one sentence; empty when passed
  std::vector<Tier> caught_by;  // of every check that found something, the reason's first
  bool exact = false;           // the fill's answer is exactly representable and had to be met exactly
  bool multi_tile_ragged = false;
  std::int64_t compared = 0, wrong = 0;
  std::optional<double> margin;  // max err/bound, where something was compared
  double max_abs_error = 0;      // of finite elements, against the golden in f64
  struct Worst {
    std::string tensor;
    std::vector<std::int64_t> index;
    double got, golden, bound;
    std::string tile{};  // "first of query tile 1 (queries 128..255)", where something is wrong in one of several
  };
  std::optional<Worst> worst;
  std::map<std::string, double> stages;    // of an op with stages, by output: max err/bound of what made it
  std::optional<double> end_to_end;        // and the relative error of its first output, from its inputs on
  std::string pattern;                     // of the wrong elements
  std::string reads_like;                  // what usually makes such a pattern
  std::optional<bool> deterministic;       // the runs agreed bit for bit
  std::optional<std::uint64_t> digest;     // of the outputs' bits
  std::int64_t rows = 0;                   // of the first output
  std::vector<std::int64_t> rows_checked;  // against the golden; empty: all
  std::optional<double> sweep_margin;      // of the check of all rows, where the golden is sampled (Hooks::sweep)
  std::optional<double> rms_ratio, bias;   // of the first output, in units of the predicted rms error (aggregate.hpp)
  std::vector<std::string> relations;      // that were tried and applied
  Cost cost;
  std::map<std::string, Traffic> traffic;  // by tensor, where the backend counts
  std::vector<SiteTraffic> sites;          // by source line, likewise; shown, not recorded
  double seconds = 0;                      // of the candidate's first run, worker's clock
  std::string repro;
  bool incomplete = false;                    // asked for and not judged: no time, no memory, no way to watch, a faulty machine
  bool call_failed = false;                   // an error, a crash or a hang that anyone who calls the kernel sees
  std::vector<PolicyFigures> policy_figures;  // of each output, where they were asked for
  std::map<std::string_view, bool> policies;  // rules that were asked, and whether they let the case pass

  void caught(Tier t);  // adds it once
};

struct RunHead {
  std::string version, commit, compiler, build;
  std::string backend, device, host, date;
  std::string driver;  // the GPU's; empty: not looked up
  std::string suite;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> libraries;  // a vendor's, opened at run time: name and version
};

struct Tally {
  std::map<Verdict, std::int64_t> of;
  std::int64_t total = 0, ragged = 0;  // ragged: of those that ran, how many had several tiles and a ragged tail
  double seconds = 0;
  // Of all threads together: workers at their orders, inputs and goldens, judging, power.
  struct Work {
    double workers = 0, goldens = 0, judging = 0, power = 0;
  } work;
  std::int64_t incomplete = 0;   // records that were asked for and not judged
  std::int64_t unwatchable = 0;  // of those, kernels that went past the watch
  bool interrupted = false;
  void add(const Record& r);
  void add_powerless() { ++of[Verdict::suspect]; }  // a fault that no case of the run would have rejected (power.hpp)
  std::int64_t count(Verdict v) const;
  std::int64_t bad() const;
  std::int64_t ran() const { return total - count(Verdict::skipped) - count(Verdict::unsupported); }
  // "312 passed · 0 failed · 0 suspect · 24 unsupported as declared · 17.9 s"
  std::string sentence() const;
};

std::string to_json(const RunHead&);
std::string to_json(const Record&);
std::string to_json(const Tally&);

// As the name of a record file: standard output.  What is printed goes to standard error once that was given to the records.
inline constexpr std::string_view kStdout = "-";
void give_stdout_to_records();

// A JSON Lines file that holds whole lines only, whenever it is looked at.
class JsonLines {
 public:
  explicit JsonLines(const std::string& path);  // throws BadInput where it cannot be written
  ~JsonLines();
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  void write(const std::string& line);  // throws BadInput on a full disk, with the file cut back to its last whole line

 private:
  std::string path_;
  int fd_ = -1;
  std::int64_t whole_ = 0;
};

// The verdict of every case in a record file, and the digest of what came out, by repro line.  Throws BadInput where it
// cannot be read.
struct Outcome {
  std::string verdict, digest;  // digest empty: nothing came out
};
std::map<std::string, Outcome> outcomes_in(const std::string& path);
std::map<std::string, Outcome> outcomes_in(const std::string& text, const std::string& path);  // `path` is for messages
std::string digest_text(const Record&);                                                        // 16 hexadecimal digits, or empty

// Writes a whole file or nothing.
void write_whole(const std::string& path, const std::string& text);
// Throws BadInput where a file could not be written, without touching what is there; for flags, before a long run.
void require_writable(const std::string& path);

}  // namespace assay
