// SPDX-License-Identifier: Apache-2.0
#include "validate/records/fields/kinds.hpp"

#include "validate/records/fields/bench_fields.hpp"
#include "validate/records/fields/case_fields.hpp"
#include "validate/records/fields/line_fields.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/run_fields.hpp"
#include "validate/records/fields/schema_maker.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

struct Kind {
  std::string_view name, about;
  void (*add)(Json& defs, std::string_view name, std::string_view about);
};
constexpr Kind kKinds[] = {
    {"run", "the head of a run", SchemaMaker::add_kind<RunHead>},
    {"case", "one kernel on one case", SchemaMaker::add_kind<Record>},
    {"traffic", "a case that was run for its byte counts: the same fields under another name", SchemaMaker::add_kind<Record>},
    {"shrunk", "a failing case, run again and made smaller: the first of each kernel and dtype", SchemaMaker::add_kind<Shrunk>},
    {"power", "a fault that the bounds of a whole run must reject, for a kernel and a dtype", SchemaMaker::add_kind<PowerLine>},
    {"declared", "a kernel that declares more errors than it makes, in a run of a whole suite",
     SchemaMaker::add_kind<DeclaredLine>},
    {"suggested",
     "the tightest of some usual declarations of numerics that a kernel's outputs met over the run; no verdict used it",
     SchemaMaker::add_kind<SuggestedLine>},
    {"bench", "one kernel timed on one shape", SchemaMaker::add_kind<BenchRecord>},
    {"left_out", "a kernel that bench did not time on a shape", SchemaMaker::add_kind<LeftOutRecord>},
    {"launched", "a kernel that bench --once launched once, and the functions of that launch in order",
     SchemaMaker::add_kind<LaunchedRecord>},
    {"memory", "what a kernel holds of device memory on a shape, as the backend gave it; nothing was run",
     SchemaMaker::add_kind<MemoryRecord>},
    {"timing",
     "what another program takes for a row of bench, the L2 cache flushed before each launch too: to set beside ours, not judged",
     SchemaMaker::add_kind<TimingRecord>},
    {"model", "a whole model timed by model --bench, for one number of sequences and one length of their prompts",
     SchemaMaker::add_kind<ModelRecord>},
    {"profile",
     "what Nsight Compute (ncu) says of one function of a kernel, in one launch from an empty cache; a field is missing where it "
     "said nothing. What the function wrote and is still in the L2 cache at its end is not among the written bytes.",
     SchemaMaker::add_kind<ProfileRow>},
    {"probe",
     "one instruction of the device layer on one class of given bits: its results as digests, or, where they may differ between "
     "machines, their error",
     SchemaMaker::add_kind<ProbeRecord>},
    {"end", "the end of a run", SchemaMaker::add_kind<Tally>},
};

// Only simt counts bytes, of our kernels and of cases that are judged by their outputs alone.
void narrow_traffic(Json& fields) {
  fields["backend"] = {{"const", "simt"}};
  fields["verdict"] = {{"enum", {"passed", "failed", "crashed", "timeout", "suspect"}}};
  for (const char* other :
       {"held_to", "loaded", "given", "not_checked", "code", "fidelity", "reduced", "policies", "faults", "incomplete"})
    fields.erase(other);
}

}  // namespace

Json schema_of_records() {
  Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "assay/reports/schema.json"},
      {"title", "Assay records"},
      {"description",
       "One line of a JSON Lines file of `validate run --json`, `validate merge --json`, `validate bench --json`, `validate "
       "probe --json` or `reports/pytorch_rows.py`. A file begins with a `run` record; that of `run` and `merge` ends with "
       "an `end` record, and one that does not was cut short. Sizes are in bytes, times in the unit of their name. What is "
       "not known is missing; null in older records counts as missing. Numbers that JSON has not are the strings \"nan\", "
       "\"inf\", \"-inf\". `validate describe records` prints this file."},
      {"oneOf", Json::array()},
      {"$defs",
       {{"count", {{"type", "integer"}, {"minimum", 0}}},
        {"size", {{"type", "number"}, {"minimum", 0}}},
        {"share", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
        {"number", {{"oneOf", {{{"type", "number"}}, {{"enum", {"nan", "inf", "-inf"}}}}}}}}}};
  for (const Kind& kind : kKinds) {
    schema["oneOf"].push_back({{"$ref", "#/$defs/" + std::string(kind.name)}});
    kind.add(schema["$defs"], kind.name, kind.about);
  }
  narrow_traffic(schema["$defs"]["traffic"]["properties"]);
  return schema;
}

}  // namespace assay
