// SPDX-License-Identifier: Apache-2.0
// A file of records, read back for `compare` and `report`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "validate/base/version.hpp"
#include "validate/records/stats.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

// State of the GPU while a row was timed.  0: not reported.
struct MachineState {
  double sm_mhz_min = 0, sm_mhz_max = 0, memory_mhz = 0, power_w_max = 0, temperature_c_max = 0;
  std::vector<std::string> throttle;  // the driver's reasons for lowering the clocks
};

// The row's place in a published table, with the words and numbers published there.
struct SuitePlace {
  std::string name, table, label;
  std::vector<std::pair<std::string, std::string>> reported;
};

// Resources of one CUDA function that the kernel launches.  Below 0: not recorded.
struct FunctionResources {
  std::string function;
  double registers = -1, static_shared = -1, dynamic_shared = -1, local_bytes = -1, threads = -1, blocks = -1;
  double blocks_per_sm = -1, occupancy = -1;
};

// A `bench` record: one kernel on one shape.
struct TimedRow {
  std::string op, kernel, dtype, shape;
  Summary time_us;   // of all launches
  Clusters samples;  // those that were kept, by process; empty in older files
  std::optional<double> steady_us, score;
  std::string limit;  // "copy" or "matrix"
  double flops = 0, bytes = 0, unfused_bytes = 0, share_of_limit = 0;
  double copy_rate = 0, matrix_rate = 0;  // bytes and operations per second, of the same run; 0: not measured
  std::map<std::string, double> speedups;
  std::map<std::string, Interval> intervals;  // of the speedups
  double margin = 0;                          // err/bound after the timing; infinite: wrong
  double peak_bytes = 0;                      // of device memory; 0: not recorded
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
struct WorstElement {
  std::string tensor;
  std::vector<std::int64_t> index;
  double got = 0, golden = 0, bound = 0;
  std::string tile;
};

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
  struct Reruns {
    std::int64_t run = 0, failed = 0;
  } same_seed, other_seeds;
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
  double formula = 0, unfused_formula = 0, unique = 0, requested = 0;
  double sectors = 0;  // in bytes; 0: not counted
};

// A `profile` record: a CUDA function under the vendor's profiler.  Below 0: not recorded; shares lie in 0..1.
struct ProfileRow {
  std::string op, kernel, dtype, shape, function;
  double time_us = -1, registers = -1, occupancy_theoretical = -1, occupancy_achieved = -1;
  double memory_share = -1, compute_share = -1, dram_share = -1, dram_read_bytes = -1, dram_written_bytes = -1;
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
  struct Kind {  // of launches, each timed apart over all layers
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
  std::int64_t planned = 0;                            // cases that the run was to judge; 0: not recorded
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

// Throws BadInput, naming file and line, if the file cannot be read or is not a file of records.
RecordFile read_records(const std::string& path);
RecordFile records_in(const std::string& text, const std::string& path);  // `path` is for messages

}  // namespace assay
