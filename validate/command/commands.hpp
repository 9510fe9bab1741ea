// SPDX-License-Identifier: Apache-2.0
// The subcommands.  Each returns the process's exit code and throws BadInput for what a person got wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/backends/choice.hpp"
#include "validate/base/exit.hpp"
#include "validate/bench/bench.hpp"
#include "validate/console/console.hpp"
#include "validate/judge/judge.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

struct RunFlags {
  Selection selection;
  BackendFlags machine;
  std::string json, junit, markdown;
  std::string same_as;      // record file whose verdicts must be met, case by case
  std::string last_failed;  // record file whose bad cases are judged instead of a suite
  bool bit_equal = false;   // and its outputs, bit for bit
  bool all_relations = false;
  bool reduced = false;  // model shapes as a simulator runs them, on a GPU too
  double timeout_s = 60, budget_s = 0;
  int jobs = 0;
  double shrink_s = 0;  // spent on each failure that is shrunk; 0: none is
  bool fail_fast = false, sectors = false, watch = false, quiet = false;
  std::string colour = "auto";  // or always, never
  bool partial = false;         // incomplete evidence is accepted
};

struct SelfcheckFlags {
  RunFlags run;             // `markdown`: the matrix
  bool every_case = false;  // judge on where a kernel has failed already
  bool policies = false;    // the rules of policy.hpp beside this judge's
  std::string policy;       // one of them instead of this judge's
  bool corpus = false;      // judge the corpus instead: every broken kernel passes a case, half of them the usual test
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
  BackendFlags machine;
  std::string json;
  std::string against;  // a record file, or "simt": that machine, here and now
};

// Reads a command line and does what it asks for; throws BadInput where it asks for nothing that there is.
int command_line(int argc, char** argv);

int list_command(const std::string& what, const Selection& selection, bool json);
int describe_command(const std::string& op, bool json);
int run_command(const RunFlags& flags);
int selfcheck_command(const SelfcheckFlags& flags);
int replay_command(const std::string& line, const RunFlags& flags);
int bench_command(const BenchFlags& flags);
int compare_command(const CompareFlags& flags);
int report_command(const ReportFlags& flags);
int probe_command(const ProbeFlags& flags);
int cost_command(const Selection& selection, const std::vector<std::string>& lines);
int doctor_command(bool json);

// Shared by the subcommands ------------------------------------------------------------------------------------------

// The bad cases of a record file as tasks, of the kernels that the selection leaves in.  Throws BadInput.
std::vector<Task> bad_tasks(const std::string& path, const Selection& selection);
// Throws BadInput where only the simulated machine can do what a flag asks.
void check_watch(const RunFlags& flags, const std::string& backend);
// The lines of a kernel that moved most first.
void print_sites(const std::vector<SiteTraffic>& sites);
RunHead head_of(const std::string& backend, const Selection& selection = {});
JudgeOptions judge_options(const RunFlags& flags, const std::string& backend);
int exit_code(const Tally& tally, bool partial);  // as exit.hpp has it
// Runs tasks with everything that a run writes and shows; `also` sees each record first and may add to it.
Tally run_tasks(const std::vector<Task>& tasks, const RunFlags& flags, const JudgeOptions& options, const RunHead& head,
                Console::Show show, const std::function<void(Record&)>& also = {});

}  // namespace assay
