// SPDX-License-Identifier: Apache-2.0
// The fields of what other commands and scripts record: `left_out`, `launched` and `memory` of bench, `probe`, `model`, and
// `timing` and `profile`, which scripts write.
#pragma once

#include "validate/records/fields/row_fields.hpp"
#include "validate/records/recorded.hpp"

namespace assay {

struct LeftOutRecord {
  RecordedRow row{};
  std::string reason{};
};
template <>
struct Fields<LeftOutRecord> {
  template <class V>
  static void visit(V& v, const LeftOutRecord& l) {
    RecordedRow::visit(v, l.row);
    v.required("reason", l.reason, {.about = "it does not take the shape, its library is missing, it is too slow, it failed"});
  }
};

struct LaunchedRecord {
  RecordedRow row{};
  std::vector<LaunchedFunction> functions{};
};
template <>
struct Fields<LaunchedRecord> {
  template <class V>
  static void visit(V& v, const LaunchedRecord& l) {
    RecordedRow::visit(v, l.row);
    v.required("functions", l.functions, {.about = kAboutFunctions});
  }
};

struct MemoryRecord {
  RecordedRow row{};
  std::uint64_t tensor_bytes = 0, workspace_bytes = 0;
};
template <>
struct Fields<MemoryRecord> {
  template <class V>
  static void visit(V& v, const MemoryRecord& m) {
    RecordedRow::visit_names(v, m.row, R"({"enum": ["simt", "cuda"]})");
    v.required("tensor_bytes", m.tensor_bytes);
    v.required("workspace_bytes", m.workspace_bytes);
  }
};

struct ProbeRecord {
  std::string instruction{}, inputs_of{};
  std::int64_t instructions = 0;
  std::string inputs{};
  std::optional<std::vector<std::string>> digests{};
  std::optional<double> worst_error{};
};
template <>
struct Fields<ProbeRecord> {
  template <class V, class P>
  static void visit(V& v, P& p) {
    v.required("instruction", p.instruction);
    v.required("class", p.inputs_of);
    v.required("instructions", p.instructions, {.about = "each by one warp"});
    v.required("inputs", p.inputs, {.about = "a digest of them", .form = form::kHash});
    v.optional("digests", p.digests,
               {.about = "of the results of 64 instructions each",
                .form = R"({"type": "array", "items": {"type": "string", "pattern": "^[0-9a-f]{16}$"}})"});
    v.optional("worst_error", p.worst_error, {.about = "in units of 2^-24 of the right result"});
  }
};

template <>
struct Fields<DecodeTimes::Kind> {
  static constexpr std::string_view kDef = "model_steps";
  static constexpr std::string_view kAbout = "a kind of steps of a pass, timed over all layers as a graph of its own";
  template <class V, class K>
  static void visit(V& v, K& k) {
    v.required("op", k.op);
    v.required("kernel", k.kernel);
    v.required("name", k.name, {.about = "of its first output in the model"});
    v.required("count", k.count, {.about = "steps of this kind"});
    v.required("us", k.us, {.about = "of all of them", .form = form::kSize});
    v.required("bytes", k.bytes, {.about = "that their tensors have", .form = form::kSize});
  }
};

struct ModelRecord {
  std::string config{};
  DType dtype = DType::f32;
  std::string ops{};
  std::int64_t prompt = 0, batch = 0, outputs = 0, ahead = 0;
  double first_token_s = 0, token_s = 0, tokens_s = 0, least_bytes = 0, copy_rate = 0, floor_share = 0;
  std::uint64_t needed = 0, memory_before = 0, memory = 0;
  std::vector<DecodeTimes::Kind> prompt_steps{}, steps{};
  Pairs<std::string> ignored_fields{};
};
template <>
struct Fields<ModelRecord> {
  template <class V>
  static void visit(V& v, const ModelRecord& m) {
    v.required("way", std::string("assay"), {.about = "who runs it", .form = R"({"const": "assay"})"});
    v.required("config", m.config, {.about = "file or folder that describes the model"});
    v.required("dtype", m.dtype);
    v.required("ops", m.ops, {.about = "how the model is cut into ops", .form = R"({"enum": ["fused", "steps", "joined"]})"});
    v.required("prompt", m.prompt, {.about = "tokens of each prompt"});
    v.required("batch", m.batch, {.about = "sequences"});
    v.required("outputs", m.outputs, {.about = "tokens made for each"});
    v.added("ahead", m.ahead, {.about = "passes that are started at once"});
    v.required("first_token_s", m.first_token_s, {.form = form::kSize});
    v.required("token_s", m.token_s, {.form = form::kSize});
    v.required("tokens_s", m.tokens_s, {.form = form::kSize});
    v.added("least_bytes", m.least_bytes, {.about = "that a pass of one token each has to read", .form = form::kSize});
    v.required("copy_rate", m.copy_rate, {.about = "bytes a second of a copy in device memory", .form = form::kSize});
    v.required("floor_share", m.floor_share,
               {.about = "the time of a copy that moves least_bytes over token_s", .form = form::kSize});
    v.added("needed", m.needed, {.about = "bytes that the model takes, by its formula"});
    v.added("memory_before", m.memory_before, {.about = "device memory in use before"});
    v.added("memory", m.memory, {.about = "device memory in use at the end"});
    v.required("prompt_steps", m.prompt_steps);
    v.required("steps", m.steps, {.about = "of decoding; none, and none of the prompt, in records without --by-step"});
    v.optional("ignored_fields", m.ignored_fields,
               {.about = "fields of config.json that --ignore-field left out, with their values as text"});
  }
};

// What scripts write of other programs' times.
struct TimingRecord {
  std::string source{}, op{}, kernel{}, backend{};
  DType dtype = DType::f32;
  std::string shape{}, what{};
};
template <>
struct Fields<TimingRecord> {
  template <class V>
  static void visit(V& v, const TimingRecord& t) {
    v.required("source", t.source, {.about = "the program and its version"});
    v.required("op", t.op);
    v.required("kernel", t.kernel,
               {.about = "how that program does it: pytorch_eager, pytorch_compile, pytorch_sdpa_flash, ..."});
    v.required("backend", t.backend, {.about = "cpu: to try the script out", .form = R"({"enum": ["cuda", "cpu"]})"});
    v.required("dtype", t.dtype);
    v.required("shape", t.shape, {.about = "as the bench records of that row have it"});
    v.required("what", t.what, {.about = "the expression that was timed"});
    v.optional("time_us", std::optional<RecordedTimes>());
    v.optional("samples_us", Clusters(),
               {.about = "at most 50, evenly over the time, of the one process", .form = form::kSizesOfEach});
    v.optional("functions", std::vector<RecordedCall>(), {.about = kAboutCalls});
    v.optional("beside", std::map<std::string, RecordedTimes>(), {.about = "our kernels that took turns with it, by name"});
    v.optional("rest_s", std::optional<double>(),
               {.about = "of older records: seconds without work before each launch; missing: none", .form = form::kSize});
    v.optional("left_out", std::string(), {.about = "why there is no time", .form = R"({"type": "string", "pattern": "."})"});
    v.either("time_us", "left_out");
  }
};

template <>
struct Fields<ProfileRow> {
  template <class V, class P>
  static void visit(V& v, P& p) {
    v.required("op", p.op);
    v.required("kernel", p.kernel);
    v.required("dtype", p.dtype, {.form = R"({"$ref": "#/$defs/dtype"})"});
    v.required("shape", p.shape);
    v.required("function", p.function);
    v.optional("time_us", p.time_us,
               {.about = "with the counters on: a kernel's time is that of its bench record", .form = form::kSize});
    v.optional("registers", p.registers, {.about = "of a thread", .form = R"({"$ref": "#/$defs/count"})"});
    v.optional("occupancy_theoretical", p.occupancy_theoretical, {.form = form::kShare});
    v.optional("occupancy_achieved", p.occupancy_achieved, {.form = form::kShare});
    v.optional("memory_share", p.memory_share,
               {.about = "of the peak, and so on: of the caches and device memory together", .form = form::kShare});
    v.optional("compute_share", p.compute_share, {.form = form::kShare});
    v.optional("dram_share", p.dram_share, {.form = form::kShare});
    v.optional("dram_read_bytes", p.dram_read_bytes, {.form = form::kSize});
    v.optional("dram_written_bytes", p.dram_written_bytes, {.form = form::kSize});
    v.optional("stalls", p.stalls,
               {.about = "the three most frequent reasons for which a warp did not issue: the share of its cycles",
                .form = R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/share"}})"});
  }
};

}  // namespace assay
