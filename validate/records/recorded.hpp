// SPDX-License-Identifier: Apache-2.0
// What `compare` and `report` know of the records of a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "validate/base/version.hpp"
#include "validate/records/lines.hpp"
#include "validate/records/record.hpp"
#include "validate/records/stats.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

// State of the GPU while a row was timed, of what NVML reported.
struct MachineState {
  std::optional<double> sm_mhz_min{}, sm_mhz_max{}, memory_mhz{}, power_w_max{}, temperature_c_max{};
  std::vector<std::string> throttle;  // the driver's reasons for lowering the clocks
};

// The row's place in a published table, with the words and numbers published there.
struct SuitePlace {
  std::string name, table, label;
  std::vector<std::pair<std::string, std::string>> reported;
};

// Resources of one CUDA function that the kernel launches, as recorded.
struct FunctionResources {
  std::string function;
  std::optional<double> registers{}, static_shared{}, dynamic_shared{}, local_bytes{}, threads{}, blocks{};
  std::optional<double> blocks_per_sm{}, occupancy{};
};

// A `bench` record: one kernel on one shape.
struct TimedRow {
  std::string op, kernel, dtype, shape;
  Summary time_us;   // of all launches
  Clusters samples;  // those that were kept, by process; empty in older files
  std::optional<double> steady_us, score;
  std::string limit = "copy";  // or "matrix"
  double flops = 0, bytes = 0, unfused_bytes = 0, share_of_limit = 0;
  double copy_rate = 0;               // bytes per second, of the same run
  std::optional<double> matrix_rate;  // operations per second, likewise
  std::map<std::string, double> speedups;
  std::map<std::string, Interval> intervals;  // of the speedups
  double margin = 0;                          // err/bound after the timing; infinite: wrong
  std::optional<double> peak_bytes;           // of device memory
  double planted = 0;                         // percent by which the kernel was slowed on purpose, to test `compare`; 0: not
  std::string code;                           // code hash; empty: unknown
  std::optional<MachineState> machine;
  std::optional<SuitePlace> suite;
  std::optional<int> step;  // the kernel's index in the op's ladder; none: not in it
  std::optional<DramBytes> dram;
  std::vector<FunctionResources> resources;

  bool right() const { return margin <= 1; }
  std::string key() const { return op + "/" + kernel + " " + dtype + " " + shape; }
  std::string kernel_key() const { return op + "/" + kernel + " " + dtype; }
};

// The element with the largest err/bound.
using WorstElement = Record::Worst;

// A `case` record.
struct JudgedCase {
  std::string op, kernel, dtype, verdict, reason, pattern, reads_like, repro, digest, source;
  std::string loaded, code;  // as in Record; empty: built in; unknown
  std::string numerics{};    // as declared
  std::vector<std::string> not_checked{};
  std::string judge{};                 // version of its judge, from the file's head; empty: unknown
  std::vector<std::string> caught_by;  // names of tiers
  std::vector<std::string> would_pass{};
  std::optional<double> margin, max_abs_error;
  std::optional<bool> deterministic;
  std::optional<WorstElement> worst;  // none unless an element was wrong

  bool bad() const { return verdict == "failed" || verdict == "crashed" || verdict == "timeout" || verdict == "suspect"; }
  std::string kernel_key() const { return op + "/" + kernel + " " + dtype; }
  std::string again() const { return again(repro); }
  std::string again(const std::string& line) const {  // of another case of the kernel
    return "validate replay " + loaded + (loaded.empty() ? "'" : " '") + line + judge_word(judge) + "'";
  }
};

// A `shrunk` record: a failing case, rerun and shrunk.
struct ShrunkCase {
  std::string of, label, smallest;  // of, smallest: repro lines; label empty: not rerun; smallest empty: nothing smaller fails
  std::string reads_like{};         // of the smallest
  std::size_t after = 0;            // cases that must be judged before it, in the same process
  Shrunk::Reruns same_seed, other_seeds;
};

// A `power` record: a known fault that some case should reject.
struct PlantedFault {
  std::string op, kernel, dtype, fault;
  std::int64_t tried = 0;  // cases whose output the fault changes, until one rejected it
  bool rejected = false;
};

// A `traffic` record: bytes as simt counts them, summed over the tensors.
struct CountedTraffic {
  std::string op, kernel, dtype, repro;
  double formula = 0, unfused_formula = 0;
  std::optional<double> unique{}, requested{}, sectors{};  // in bytes; none: not counted
};

// A `profile` record: a CUDA function under the vendor's profiler.  Shares lie in 0..1.
struct ProfileRow {
  std::string op, kernel, dtype, shape, function;
  std::optional<double> time_us{}, registers{}, occupancy_theoretical{}, occupancy_achieved{};
  std::optional<double> memory_share{}, compute_share{}, dram_share{}, dram_read_bytes{}, dram_written_bytes{};
  std::vector<std::pair<std::string, double>> stalls;  // reason and share, largest first
};

// A `timing` record: another program's time for one of our rows; not judged.
struct Timing {
  std::string op, kernel, dtype, shape;
  std::string what, source;  // the expression that was timed; the program and its version
  Summary time_us;
  Clusters samples;
  std::string left_out;  // reason for having no time; empty: there is one
};

// A `model` record: a step of decoding of a whole model, of so many sequences.
struct DecodeTimes {
  std::string config, dtype;
  std::int64_t prompt = 0, batch = 0;
  double token_s = 0, tokens_s = 0, floor_share = 0, copy_rate = 0;
  struct Kind {  // of steps, each timed apart over all layers
    std::string op, kernel, name;
    std::int64_t count = 0;
    double us = 0, bytes = 0;
  };
  std::vector<Kind> kinds;  // empty: not timed apart
};

struct LeftOut {
  std::string op, kernel, dtype, shape, reason;
  std::optional<SuitePlace> suite;
};

struct RecordFile {
  std::string path;
  std::string version, commit, compiler, build, backend, device, host, date, suite, driver;
  std::map<std::string, std::string> libraries;
  std::map<std::string, std::string> kernels, judges;  // versions: code hashes by "op/kernel", of the judge by op
  std::string sandbox;                                 // what confined the workers; empty: unknown, or there are none
  std::string suites;                                  // version of the suites; these three are empty in older files
  std::optional<std::int64_t> planned;                 // cases that the run was to judge
  std::string accepted;                                // reason why the file was accepted as a baseline; empty: none given
  std::string incomplete;                              // why cases of the run are missing; empty: none are
  std::vector<TimedRow> rows;
  std::vector<JudgedCase> cases;
  std::vector<ShrunkCase> shrunk;
  std::vector<PlantedFault> faults;
  std::vector<CountedTraffic> traffic;
  std::vector<LeftOut> left_out;
  std::vector<Timing> timings;
  std::vector<DecodeTimes> models;
  std::vector<ProfileRow> profiles;
  std::vector<std::string> lines;  // as they are in the file
};

}  // namespace assay
