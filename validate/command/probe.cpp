// SPDX-License-Identifier: Apache-2.0
// probe: runs every device instruction on given bits, writes digests of the results, and compares them with another machine's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/command/commands.hpp"
#include "validate/probe/probe.hpp"
#include "validate/probe/subject.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/reader.hpp"
#include "validate/records/fields/writer.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/record.hpp"
#include "validate/records/text_file.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/backend.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kExp2Error = 4;          // in units of 2^-24; the PTX ISA allows 2^-22 for ex2.approx
constexpr std::int64_t kDifferences = 2;  // differences of each kind that are shown in full

class DeviceWords {
 public:
  DeviceWords(Backend& b, std::size_t n, const char* label) : backend_(b), p_(b.allocate(n * 4, 0, label)) {}
  ~DeviceWords() { backend_.release(p_); }
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;
  std::uint32_t* get() const { return static_cast<std::uint32_t*>(p_); }

 private:
  Backend& backend_;
  void* p_;
};

ProbeBits results(Backend& backend, const ProbeSubject& what, const ProbeBits& in) {
  ProbeBits out(what.words_out, 0xffffffffu);
  const DeviceWords device_in(backend, in.size(), "inputs"), device_out(backend, out.size(), "results");
  backend.write(device_in.get(), in.data(), in.size() * 4);
  backend.write(device_out.get(), out.data(), out.size() * 4);
  what.run(backend, device_in.get(), device_out.get());
  backend.read(out.data(), device_out.get(), out.size() * 4);
  what.forget(out);
  return out;
}

std::string digest(const std::uint32_t* words, std::size_t n) {
  std::uint64_t h = random::kGamma;
  for (std::size_t i = 0; i < n; ++i) h = random::mix((h ^ words[i]) + random::kGamma);
  return fmt::format("{:016x}", h);
}

// The record of a subject.
struct Probed {
  std::string inputs;                 // digest of the inputs
  std::vector<std::string> digests;   // of words_per_digest results each
  std::optional<double> worst_error;  // replaces the digests for exp2_approx, whose bits may differ between machines
};

Probed probed(const ProbeSubject& what, const ProbeBits& in, const ProbeBits& out) {
  Probed o{digest(in.data(), in.size()), {}, what.worst_error(in, out)};
  if (o.worst_error) return o;
  const std::size_t step = what.words_per_digest;
  for (std::size_t at = 0; at < out.size(); at += step) o.digests.push_back(digest(&out[at], std::min(step, out.size() - at)));
  return o;
}

std::string key_of(const ProbeSubject& what) { return fmt::format("{} {}", what.instruction, what.inputs); }

std::string to_line(const ProbeSubject& what, const Probed& o) {
  ProbeRecord r{.instruction = what.instruction, .inputs_of = what.inputs, .instructions = what.instructions, .inputs = o.inputs};
  if (!o.worst_error) r.digests = o.digests;
  else r.worst_error = std::isfinite(*o.worst_error) ? *o.worst_error : INFINITY;
  return record_line("probe", r);
}

std::map<std::string, Probed> probed_in(const std::string& path) {
  std::map<std::string, Probed> all;
  each_record(read_text_file(path), path, [&](const std::string&, const Json& j) {
    if (text_in(j, "record") != "probe") return;
    ProbeRecord r;
    read_fields(j, r);
    all[fmt::format("{} {}", r.instruction, r.inputs_of)] = {r.inputs, r.digests.value_or(std::vector<std::string>{}),
                                                             r.worst_error};
  });
  if (all.empty()) throw BadInput(fmt::format("'{}' holds no probe records", path));
  return all;
}

// The indices of the digests that differ.
std::vector<std::size_t> different_blocks(const Probed& here, const Probed& there) {
  std::vector<std::size_t> blocks;
  for (std::size_t b = 0; b < std::max(here.digests.size(), there.digests.size()); ++b)
    if (b >= here.digests.size() || b >= there.digests.size() || here.digests[b] != there.digests[b]) blocks.push_back(b);
  return blocks;
}

// Prints the first differing results of each kind in full, then the number of each kind.
void show_differences(const ProbeSubject& what, const ProbeBits& in, const ProbeBits& here, const ProbeBits& there) {
  std::map<std::string_view, std::int64_t> kinds;
  const std::size_t words = what.words_out / static_cast<std::size_t>(what.instructions);
  for (std::size_t at = 0; at < here.size(); ++at) {
    if (here[at] == there[at]) continue;
    const std::string_view kind = what.difference(here[at], there[at]);
    if (++kinds[kind] > kDifferences) continue;
    fmt::print("    {}: {:08x} here, {:08x} there; instruction {}, word {}, {}\n", kind, here[at], there[at], at / words,
               at % words, what.explain(in, static_cast<std::int64_t>(at)));
  }
  for (const auto& [kind, n] : kinds) fmt::print("    {} of {} results differ in {}\n", n, here.size(), kind);
}

}  // namespace

int probe_command(const ProbeFlags& flags) {
  std::string name;
  int code = 0;
  if (!backend_ready(flags.machine, name, code)) return code;
  const bool live = flags.against == "simt";
  std::map<std::string, Probed> expected;
  if (!flags.against.empty() && !live) expected = probed_in(flags.against);
  std::vector<std::string> refused;
  ProbeSubjects subjects = flags.ptx ? ptx_subjects(refused) : word_subjects();
  std::erase_if(subjects, [&](const auto& what) { return what->instruction.find(flags.part) == std::string::npos; });
  if (flags.digests > 0)
    for (const auto& what : subjects) what->keep(flags.digests);
  if (subjects.empty()) throw BadInput(fmt::format("-k {}: no instruction has this in its name", flags.part));
  const RunHead head = head_of(name, {.suite = "probe", .seed = kProbeSeed});
  std::unique_ptr<JsonLines> json;
  if (!flags.json.empty()) {
    require_writable(flags.json);
    json = std::make_unique<JsonLines>(flags.json);
    json->write(to_json(head));
  }
  const std::unique_ptr<Backend> backend = open_backend(name);
  const std::unique_ptr<Backend> other = live ? open_backend("simt") : nullptr;

  fmt::print("Assay {} · commit {} · {}\n\n  {:<26} {:<12} {:>10}  \n", head.version, head.commit, head.device, "instruction",
             "inputs", "results");
  std::int64_t total = 0, same = 0, different = 0, modelled = 0, unknown_there = 0;
  std::set<std::string> skipped;
  for (const auto& subject : subjects) {
    const ProbeSubject& what = *subject;
    if (backend->arch() < what.min_arch) {
      if (skipped.insert(what.instruction).second)
        fmt::print("  {:<26} needs sm_{}, this is sm_{}\n", what.instruction, what.min_arch, backend->arch());
      continue;
    }
    const ProbeBits in = what.inputs_bits();
    const ProbeBits out = results(*backend, what, in);
    const Probed o = probed(what, in, out);
    if (json) json->write(to_line(what, o));
    total += static_cast<std::int64_t>(out.size());
    const std::string row = fmt::format("  {:<26} {:<12} {:>10}  ", what.instruction, what.inputs, out.size());
    if (o.worst_error) {
      const bool good = *o.worst_error <= kExp2Error;
      fmt::print("{}{} within {:.3f} · 2^-24 of 2^x\n", row, good ? "" : "DIFFERENT", *o.worst_error);
      good ? ++same : ++different;
      continue;
    }
    if (flags.against.empty()) {
      fmt::print("{}{}\n", row, digest(out.data(), out.size()));
      continue;
    }
    const auto at = expected.find(key_of(what));
    if (!live && at == expected.end()) {
      ++unknown_there;
      fmt::print("{}not there\n", row);
      continue;
    }
    if (!live && flags.digests > 0 && at->second.digests.size() > o.digests.size()) {
      at->second.digests.resize(o.digests.size());
      at->second.inputs = o.inputs;  // the digest of all inputs is not at hand
    }
    if (!live && at->second.inputs != o.inputs) throw BadInput(fmt::format("'{}' was made with other inputs", flags.against));
    const ProbeBits there = live ? results(*other, what, in) : ProbeBits{};
    const auto blocks = different_blocks(o, live ? probed(what, in, there) : at->second);
    if (blocks.empty()) {
      ++same;
      fmt::print("{}the same\n", row);
      continue;
    }
    what.exact ? ++different : ++modelled;
    const std::size_t each = static_cast<std::size_t>(what.instructions) * what.words_per_digest / what.words_out;
    fmt::print("{}{} in {} of {} digests; first in instructions {} to {}\n", row,
               what.exact ? "DIFFERENT" : "modelled, and differs", blocks.size(), o.digests.size(), blocks[0] * each,
               (blocks[0] + 1) * each - 1);
    if (live) show_differences(what, in, out, there);
  }
  for (const std::string& form : refused) fmt::print("  not run on simt: {}\n", form);
  fmt::print("\n{} results{}{}", total, flags.ptx ? fmt::format(" of {} forms", subjects.size()) : "",
             skipped.empty() ? "" : fmt::format(" · {} instructions not of this device", skipped.size()));
  if (flags.against.empty()) {
    fmt::print(" on {}\n", name);
  } else {
    fmt::print(" against {}: {} classes the same, {} different{}, {} not there\n", plain(flags.against), same, different,
               modelled ? fmt::format(", {} modelled differ", modelled) : "", unknown_there);
    if (same + different + modelled == 0) throw BadInput(fmt::format("'{}' has none of these instructions", flags.against));
  }
  return different == 0 ? kAllPassed : kVerdictFailed;
}

}  // namespace assay
