// SPDX-License-Identifier: Apache-2.0
// The subcommands.  Each returns the process's exit code and throws BadInput for what a person got wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "validate/cases/suite.hpp"
#include "validate/command/console.hpp"
#include "validate/judge/judge.hpp"
#include "validate/problem/op.hpp"

namespace assay {

enum ExitCode { kAllPassed = 0, kVerdictFailed = 1, kBadInput = 2, kNothingRun = 3 };

// Set by Ctrl-C and by a kill: finish the record at hand and stop.
extern std::atomic<bool> stop_requested;

struct Selection {
  std::vector<std::string> ops, kernels, dtypes;
  std::string suite = "smoke";
  std::string datasets;  // folder; empty: looked for beside the program
  std::uint64_t seed = 2026;
  std::int64_t count = 200;
  std::string shard;       // "i/n"
  bool no_vendor = false;  // leave out what calls a vendor's library
};

struct RunFlags {
  Selection selection;
  std::string backend = "auto";
  std::string json, junit, markdown;
  std::string same_as;     // record file whose verdicts must be met, case by case
  bool bit_equal = false;  // and its outputs, bit for bit
  bool all_relations = false;
  bool reduced = false;  // model shapes as a simulator runs them, on a GPU too
  double timeout_s = 60, budget_s = 0;
  int jobs = 0;
  double shrink_s = 0;  // spent on each failure that is shrunk; 0: none is
  int skip_exit = -1;   // exit code when the backend is missing; -1: kBadInput
  bool require_gpu = false, fail_fast = false, sectors = false, watch = false, quiet = false;
};

struct SelfcheckFlags {
  RunFlags run;             // `markdown`: the matrix
  bool every_case = false;  // judge on where a kernel has failed already
  bool policies = false;    // the rules of policy.hpp beside this judge's
  std::string policy;       // one of them instead of this judge's
  bool corpus = false;      // judge the corpus instead: every broken kernel passes a case, half of them the usual test
};

struct BenchFlags {
  RunFlags run;
  std::vector<std::string> shapes;  // "rows=16384 cols=8192"
  std::string suite;                // of datasets/bench/suites; empty: the ops' own files
  std::string baseline = "unfused";
  double seconds = 0.3;            // of timing for each row, all processes together
  double rest_s = 0;               // before each launch
  bool library_functions = false;  // name what the libraries launch
  bool alone = false;              // nothing beside the kernels asked for
  bool times_only = false;
  bool sites = false;       // bytes by source line too
  bool memory = false;      // device memory instead: nothing runs
  bool once = false;        // each kernel once instead, for a profiler
  bool dram = false;        // bytes of device memory by the hardware's counters
  bool resources = false;   // print what each function takes of a multiprocessor
  int processes = 6;        // that each row is timed in
  std::string ab, ab_json;  // another build of this program, timed in turn; the file for its records
  double plant = 0;         // with ab: percent of more work that this side's kernels get, under the row's own name
};

struct CompareFlags {
  std::vector<std::string> files;  // baseline, new
  bool calibrate = false, accept = false, all = false;
  std::string reason;
  double floor_percent = 2;
  std::uint64_t seed = 2026;
};

struct ReportFlags {
  std::vector<std::string> files;
  std::string output;  // .html, .md, .csv
};

struct ProbeFlags {
  RunFlags run;         // backend, json, skip_exit, require_gpu
  std::string against;  // a record file, or "simt": that machine, here and now
};

// Reads a command line and does what it asks for; throws BadInput where it asks for nothing that there is.
int command_line(int argc, char** argv);

int list_command(const std::string& what, const Selection& selection);
int describe_command(const std::string& op);
int run_command(const RunFlags& flags);
int selfcheck_command(const SelfcheckFlags& flags);
int replay_command(const std::string& line, const RunFlags& flags);
int bench_command(const BenchFlags& flags);
int compare_command(const CompareFlags& flags);
int report_command(const ReportFlags& flags);
int probe_command(const ProbeFlags& flags);
int cost_command(const Selection& selection, const std::vector<std::string>& lines);
int doctor_command();

// Shared by the subcommands ------------------------------------------------------------------------------------------

std::filesystem::path datasets_folder(const Selection& selection);  // throws BadInput where there is none
Datasets datasets_of(const Selection& selection);
std::vector<OpShape> op_shapes();
const Op& op_named(std::string_view name);  // throws BadInput with the nearest right name
// The tasks of a selection, sound kernels only; `broken`: broken kernels only.
std::vector<Task> tasks_of(const Selection& selection, bool reduce, bool broken = false);
// The backend a flag means: "auto" is cuda where there is a GPU, else simt.  `why_not` is set where it cannot be used.
std::string chosen_backend(const std::string& flag, std::string& why_not);
// Whether a run can go on with the backend of its flags; if not, `code` is what to exit with, or it throws BadInput.
bool backend_ready(const RunFlags& flags, std::string& backend, int& code);
// Throws BadInput where only the simulated machine can do what a flag asks.
void check_watch(const RunFlags& flags, const std::string& backend);
// The lines of a kernel that moved most first.
void print_sites(const std::vector<SiteTraffic>& sites);
RunHead head_of(const RunFlags& flags, const std::string& backend);
JudgeOptions judge_options(const RunFlags& flags, const std::string& backend);
int exit_code(const Tally& tally);
// Runs tasks with everything that a run writes and shows; `also` sees each record first and may add to it.
Tally run_tasks(const std::vector<Task>& tasks, const RunFlags& flags, const JudgeOptions& options, const RunHead& head,
                Console::Show show, const std::function<void(Record&)>& also = {});
std::string summary_of(const Case& c);  // "rows=129 cols=4096 fill=normal"

}  // namespace assay
