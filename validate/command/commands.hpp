// SPDX-License-Identifier: Apache-2.0
// The subcommands and their flags.  Each returns the process's exit code and throws BadInput for wrong user input.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "validate/backends/choice.hpp"
#include "validate/base/exit.hpp"
#include "validate/bench/bench.hpp"
#include "validate/console/console.hpp"
#include "validate/judge/judge.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/record_file.hpp"
#include "validate/tasks/given.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

struct RunFlags {
  Selection selection;
  BackendFlags machine;
  std::string worker;           // a command that is judged: a program that speaks the worker protocol
  std::string plugin;           // a shared object whose kernels are judged
  std::string set;              // a set whose kernels are judged: its name, or its file
  std::string ptx, cu, launch;  // a PTX module, or a CUDA source, whose kernel is judged, and its launch file
  std::string inputs;           // file of the tensors of the only case
  GivenFlags given;             // and what it does not say, but for the op
  std::string json, junit, markdown;
  std::string resume;       // record file: what it has not judged is judged and added
  std::string same_as;      // record file: every case must get its verdict there
  std::string last_failed;  // record file: its bad cases are judged instead of a suite
  bool bit_equal = false;   // with same_as: the outputs must have the same bits too
  bool all_relations = false;
  bool reduced = false;  // cut model shapes down on a GPU too, as on simt
  double timeout_s = 60, budget_s = 0;
  int jobs = 0;
  double shrink_s = 0;  // seconds for shrinking one failure; 0: no shrinking
  bool fail_fast = false, sectors = false, watch = false, quiet = false;
  std::string colour = "auto";  // or always, never
  bool suggest = false;         // name a declaration that each kernel meets
  bool partial = false;         // exit with 0 if the evidence is incomplete
  bool strict = false;          // exit with 3 if a kernel takes few of the cases, or declares what no case needs
};

struct SelfcheckFlags {
  RunFlags run;                 // `markdown` gets the matrix of kernels and tiers
  bool every_case = false;      // go on judging a kernel after its first failure
  bool policies = false;        // judge by the rules of validate/records/policy.hpp too
  std::string policy;           // the rule that decides instead of this judge; empty: this judge
  std::string witnesses;        // folder of OP/faults.txt: judge each broken kernel on its witness alone
  std::string write_witnesses;  // folder to write them into
  std::string unless;           // ledger: leave out the ops whose judge is as there, if the suites are too
  bool corpus = false;          // check the corpus: every broken kernel passes a case or fails by T4 alone, half pass allclose
};

struct CompareFlags {
  std::vector<std::string> files;  // the baseline, then the new file; one file with `calibrate`
  bool calibrate = false, accept = false, all = false, partial = false;
  std::string reason;
  double floor_percent = 2;
  std::uint64_t seed = 2026;
};

struct LedgerFlags {
  std::vector<std::string> sound, faults;  // record files of kernels that must pass, and of those that must fail
  std::string output;
  std::vector<std::string> files;  // of ledger-diff: the old ledger and the new one
  bool all = false;                // print every line
};

struct ReportFlags {
  std::vector<std::string> files;
  std::string output;  // its ending, .html, .md or .csv, is the format
  bool partial = false;
};

struct MergeFlags {
  std::vector<std::string> files;
  std::string json;
  bool partial = false;
};

struct FileFlags {
  std::string inputs, outputs;  // files of tensors
  GivenFlags given;             // what they do not say
  std::string numerics;         // how the outputs were computed; empty: the default
  bool suggest = false;         // name a declaration that the outputs meet
  bool strict = false;          // what was not used makes the evidence incomplete
  bool unrounded = false;       // write goldens in f64
  std::string json, colour = "auto";
};

struct ProbeFlags {
  BackendFlags machine;
  std::string json;
  std::string against;      // a record file; or "simt": run it now and compare; empty: no comparison
  bool ptx = false;         // forms of PTX instead of device words
  std::string part;         // of the names of the instructions
  std::size_t digests = 0;  // of an instruction, at most; 0: all
};

// Parses a command line and runs its subcommand.  Throws BadInput for a wrong command line.
int command_line(int argc, char** argv);

// `set`: whose kernels are listed or shown; empty: those that are built in.
int list_command(const std::string& what, const Selection& selection, const std::string& set, bool json);
int describe_command(const std::string& op, const std::string& set, bool json);
int run_command(const RunFlags& flags);
int selfcheck_command(const SelfcheckFlags& flags);
int witnesses_command(const SelfcheckFlags& flags, const std::string& backend);
int write_witnesses_command(const SelfcheckFlags& flags, const std::string& backend);
// Judges the lines in order; all cases of a kernel go to one process.
int replay_command(const std::vector<std::string>& lines, const RunFlags& flags);
int bench_command(const BenchFlags& flags);
int compare_command(const CompareFlags& flags);
int ledger_command(const LedgerFlags& flags);
int ledger_diff_command(const LedgerFlags& flags);
int report_command(const ReportFlags& flags);
int merge_command(const MergeFlags& flags);
int probe_command(const ProbeFlags& flags);
int cost_command(const Selection& selection, const std::vector<std::string>& lines);
int inputs_command(const std::string& line, const std::string& path);
int golden_command(const std::string& line, const FileFlags& flags);  // of the line, or of flags.inputs
int judge_command(const FileFlags& flags);
int doctor_command(bool json);
int conformance_command(const RunFlags& flags);  // of a worker, to docs/worker-protocol.md

// Shared by the subcommands ------------------------------------------------------------------------------------------

// The bad cases of a record file as tasks, for the selected ops, dtypes and kernels.
std::vector<Task> bad_tasks(const RecordFile& file, const Selection& selection);
// The case of flags.inputs as a task, for the selected op and kernels.
std::vector<Task> given_tasks(const RunFlags& flags);
// Sets `backend`, and loads the kernels that --worker, --set or --plugin names.  Returns false as backend_ready() does.
bool machine_ready(const RunFlags& flags, std::string& backend, int& code);
// Prints which of the files are of a part of their runs, and why.  Returns whether one is.
bool say_incomplete(std::span<const RecordFile> files);
// kIncomplete in place of kAllPassed if the records that a command read are incomplete.
int exit_code(int code, bool incomplete, bool partial);
// Throws BadInput for --watch on a backend other than simt.
void check_watch(const RunFlags& flags, const std::string& backend);
// Prints the bytes by source line, in the order given.
void print_sites(const std::vector<SiteTraffic>& sites);
JudgeOptions judge_options(const RunFlags& flags, const std::string& backend);
int exit_code(const Tally& tally, bool partial);  // of validate/base/exit.hpp
// Judges tasks, writes the files and prints what `show` asks for.  `also` sees each record first and may add to it.
Tally run_tasks(std::vector<Task> tasks, const RunFlags& flags, const JudgeOptions& options, RunHead head, Console::Show show,
                const std::function<void(Record&)>& also = {});

}  // namespace assay
