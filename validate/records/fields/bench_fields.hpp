// SPDX-License-Identifier: Apache-2.0
// The fields of a `bench` record: one kernel timed on one shape.
#pragma once

#include "validate/records/fields/row_fields.hpp"
#include "validate/records/recorded.hpp"

namespace assay {

template <>
struct Fields<MachineState> {
  template <class V, class M>
  static void visit(V& v, M& m) {
    v.optional("sm_mhz_min", m.sm_mhz_min, {.form = form::kSize});
    v.optional("sm_mhz_max", m.sm_mhz_max, {.form = form::kSize});
    v.optional("memory_mhz", m.memory_mhz, {.form = form::kSize});
    v.optional("power_w_max", m.power_w_max, {.form = form::kSize});
    v.optional("temperature_c_max", m.temperature_c_max, {.form = form::kSize});
    v.required("throttle", m.throttle, {.about = "reasons, in words"});
    if constexpr (V::kReads)
      for (std::optional<double>* figure : {&m.sm_mhz_min, &m.sm_mhz_max, &m.memory_mhz, &m.power_w_max, &m.temperature_c_max})
        if (*figure == 0.0) figure->reset();  // in older records
  }
};

struct RecordedMemory {
  std::uint64_t tensors = 0, workspace = 0, other = 0, peak = 0;
};
template <>
struct Fields<RecordedMemory> {
  template <class V, class M>
  static void visit(V& v, M& m) {
    v.required("tensors", m.tensors);
    v.required("workspace", m.workspace);
    v.required("other", m.other);
    v.required("peak", m.peak);
  }
};

struct BenchRecord {
  RecordedRow row{};
  RecordedTimes time_us{};
  std::string l2{};
  Clusters samples_us{};
  double flops = 0;
  RecordedBytes bytes{};
  double rate_bytes_per_s = 0, copy_rate_bytes_per_s = 0, share_of_copy = 0, rate_flops_per_s = 0;
  std::optional<double> matrix_rate_flops_per_s{}, share_of_matrix{};
  std::string limit{};
  double share_of_limit = 0;
  std::string baseline{};
  std::optional<double> speedup{};
  Pairs<double> speedups{};
  Pairs<std::vector<double>> speedup_intervals{};
  std::optional<double> score{};
  double margin_after_timing = 0;
  std::size_t processes = 0, processes_judged = 0;
  RecordedMemory device_bytes{};
  std::optional<RecordedTimes> steady_us{}, copy_us{};
  std::optional<double> share_of_same_copy{};
  std::optional<DramBytes> dram{};
  std::vector<LaunchedFunction> resources{};
  std::string code{};
  std::optional<MachineState> machine{};
  std::optional<std::int64_t> step{};
};

template <>
struct Fields<BenchRecord> {
  static constexpr std::string_view kSizeOrNull = R"({"type": ["number", "null"], "minimum": 0})";  // null: in older records
  template <class V>
  static void visit(V& v, const BenchRecord& b) {
    RecordedRow::visit(v, b.row);
    v.required("time_us", b.time_us, {.about = "of single launches, by the device's clock, in all processes"});
    v.required("l2", b.l2,
               {.about = "the state of the L2 cache before each launch", .form = R"({"enum": ["flushed", "clean"]})"});
    v.added(
        "samples_us", b.samples_us,
        {.about = "at most 50 launches of each process, evenly over its time: what compare needs", .form = form::kSizesOfEach});
    v.required("flops", b.flops, {.form = form::kSize});
    v.required("bytes", b.bytes);
    v.required("rate_bytes_per_s", b.rate_bytes_per_s,
               {.about = "the formula's bytes over the median time", .form = form::kSize});
    v.required("copy_rate_bytes_per_s", b.copy_rate_bytes_per_s,
               {.about = "of a copy in device memory, measured in the same process", .form = form::kSize});
    v.required("share_of_copy", b.share_of_copy, {.form = form::kSize});
    v.required("rate_flops_per_s", b.rate_flops_per_s,
               {.about = "the formula's operations over the median time", .form = form::kSize});
    v.optional(
        "matrix_rate_flops_per_s", b.matrix_rate_flops_per_s,
        {.about = "of a large matrix product of this dtype by the vendor's library, measured in the same process; missing, "
                  "null in older records, where there is none",
         .form = kSizeOrNull});
    v.optional("share_of_matrix", b.share_of_matrix,
               {.about = "the time of the operations at that rate over the median time; missing, null in older records, likewise",
                .form = kSizeOrNull});
    v.required("limit", b.limit,
               {.about = "which of the two ceilings allows the longer time", .form = R"({"enum": ["copy", "matrix"]})"});
    v.required("share_of_limit", b.share_of_limit, {.about = "that time over the median time", .form = form::kSize});
    visit_ratios(v, b);
    v.required(
        "margin_after_timing", b.margin_after_timing,
        {.about = "err/bound of one more launch, at addresses that no launch before it has seen; the worst of the processes "
                  "judged",
         .form = R"({"oneOf": [{"type": "number", "minimum": 0}, {"const": "inf"}]})"});
    v.added("processes", b.processes, {.about = "that timed it, one after the other"});
    v.added("processes_judged", b.processes_judged, {.about = "whose outputs after the timing were judged"});
    visit_memory(v, b);
    v.optional("resources", b.resources, {.about = kAboutFunctions});
    v.optional("code", b.code,
               {.about = "a hash of what the kernel is compiled from: equal hashes, equal code", .form = form::kHash});
    v.optional("machine", b.machine,
               {.about = "while the row was timed, of what NVML reports; older records have 0 for what it does not"});
    v.optional("step", b.step, {.about = "the kernel's place in the order of its op's ideas, 0 the plainest"});
    visit_older(v);
  }

 private:
  template <class V>
  static void visit_ratios(V& v, const BenchRecord& b) {
    v.required("baseline", b.baseline, {.about = "the kernel that speedup refers to; vendor: the one that calls a library"});
    v.optional("speedup", b.speedup,
               {.about = "median of the baseline over median of this; missing, null in older records, where the baseline was not "
                         "run",
                .form = kSizeOrNull});
    v.required("speedups", b.speedups,
               {.about = "the same for unfused, each vendor's and the baseline asked for, of those that were run",
                .form = R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/size"}})"});
    v.added("speedup_intervals", b.speedup_intervals,
            {.about = "95 % of each, by a bootstrap that draws processes, then launches",
             .form = R"({"type": "object", "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/size"}}})"});
    v.optional(
        "score", b.score,
        {.about = "1 / (1 + (t - t_limit) / (t_baseline - t_limit)): 0.5 at the baseline, 1 at the limit; missing, null in "
                  "older records, where the baseline is at the limit",
         .form = kSizeOrNull});
  }
  template <class V>
  static void visit_memory(V& v, const BenchRecord& b) {
    v.added(
        "device_bytes", b.device_bytes,
        {.about = "device memory: one set of tensors, the workspace declared, what else was taken while it ran after the first "
                  "launch, and their sum"});
    v.optional("steady_us", b.steady_us,
               {.about = "the same problem again and again, its data where the caches keep it: each sample the mean of so many "
                         "launches, as a graph where they are short"});
    v.optional(
        "copy_us", b.copy_us,
        {.about = "of bench --copy, where memory is the limit: a copy within device memory that reads half of the formula's "
                  "bytes and writes half, timed in turns with the kernel"});
    v.optional("share_of_same_copy", b.share_of_same_copy, {.about = "its median time over the kernel's", .form = form::kSize});
    v.optional("dram", b.dram,
               {.about = "bytes that one launch moves between device memory and the L2 cache, by the hardware's counters: from a "
                         "cache that holds nothing of it until all that it wrote is in memory"});
  }
  // What is no longer written.
  template <class V>
  static void visit_older(V& v) {
    const std::optional<double> none;
    v.optional("rest_s", none,
               {.about = "of older records: seconds without work before each launch; missing: none", .form = form::kSize});
    v.optional(
        "library_functions", std::vector<RecordedCall>(),
        {.about = "of older records: of a kernel that calls a library, the functions of the device that one call put there, "
                  "where all processes say the same"});
    v.optional(
        "planted", none,
        {.about = "of older records: what was timed under this row's name was a problem with so many percent more rows, to "
                  "calibrate compare; what was judged was the row",
         .form = form::kSize});
  }
};

}  // namespace assay
