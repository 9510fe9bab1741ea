// SPDX-License-Identifier: Apache-2.0
// probe: runs every device instruction on given bits, writes digests of the results, and compares them with another machine's.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/probe/probe.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/record.hpp"
#include "validate/records/text_file.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/backend.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;
using Bits = std::vector<std::uint32_t>;

constexpr std::int64_t kPerDigest = 64;   // instructions
constexpr double kExp2Error = 4;          // in units of 2^-24; the PTX ISA allows 2^-22 for ex2.approx
constexpr std::int64_t kDifferences = 2;  // differences of each kind that are shown in full

Launcher launcher_on(std::string_view backend) {
#if defined(ASSAY_GPU)
  if (backend == "cuda") return on_gpu::run_probe;
#endif
  return backend == "simt" ? on_simt::run_probe : nullptr;
}

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

Bits results(Backend& backend, Instruction i, std::int64_t instructions, const Bits& in) {
  Bits out(static_cast<std::size_t>(instructions * 32 * info(i).words_out), 0xffffffffu);
  const DeviceWords device_in(backend, in.size(), "inputs"), device_out(backend, out.size(), "results");
  backend.write(device_in.get(), in.data(), in.size() * 4);
  backend.write(device_out.get(), out.data(), out.size() * 4);
  const ProbeArgs args{.instruction = i, .count = instructions, .in = device_in.get(), .out = device_out.get()};
  backend.run(launcher_on(backend.name()), &args, nullptr, {});
  backend.read(out.data(), device_out.get(), out.size() * 4);
  return out;
}

std::string digest(const std::uint32_t* words, std::size_t n) {
  std::uint64_t h = random::kGamma;
  for (std::size_t i = 0; i < n; ++i) h = random::mix((h ^ words[i]) + random::kGamma);
  return fmt::format("{:016x}", h);
}

// The record of an instruction on one class of inputs.
struct Probed {
  std::string inputs;                 // digest of the inputs
  std::vector<std::string> digests;   // one per kPerDigest instructions
  std::optional<double> worst_error;  // replaces the digests for exp2_approx, whose bits may differ between machines
};

Probed probed(Instruction i, const Bits& in, const Bits& out) {
  Probed o{digest(in.data(), in.size()), {}, {}};
  if (i == Instruction::exp2_approx) {
    o.worst_error = 0;
    for (std::size_t k = 0; k < in.size(); ++k)
      o.worst_error = std::max(*o.worst_error, exp2_error(std::bit_cast<float>(in[k]), std::bit_cast<float>(out[k])));
    return o;
  }
  const auto step = static_cast<std::size_t>(kPerDigest * 32 * info(i).words_out);
  for (std::size_t at = 0; at < out.size(); at += step) o.digests.push_back(digest(&out[at], std::min(step, out.size() - at)));
  return o;
}

std::string key_of(Instruction i, const ProbeClass& c) { return fmt::format("{} {}", info(i).name, c.name); }

std::string to_line(Instruction i, const ProbeClass& c, const Probed& o) {
  Json j{{"record", "probe"},
         {"instruction", info(i).name},
         {"class", c.name},
         {"instructions", c.instructions},
         {"inputs", o.inputs}};
  if (!o.worst_error) j["digests"] = o.digests;
  else if (std::isfinite(*o.worst_error)) j["worst_error"] = *o.worst_error;
  else j["worst_error"] = "inf";
  return j.dump();
}

std::map<std::string, Probed> probed_in(const std::string& path) {
  std::map<std::string, Probed> all;
  each_record(read_text_file(path), path, [&](const std::string&, const Json& j) {
    if (text_in(j, "record") != "probe") return;
    Probed o{text_in(j, "inputs"), j.value("digests", std::vector<std::string>{}), {}};
    if (j.contains("worst_error")) o.worst_error = number_in(j, "worst_error");
    all[fmt::format("{} {}", text_in(j, "instruction"), text_in(j, "class"))] = o;
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
std::int64_t show_differences(Instruction i, const Bits& in, const Bits& here, const Bits& there) {
  std::map<std::string_view, std::int64_t> kinds;
  std::int64_t different = 0;
  for (std::size_t at = 0; at < here.size(); ++at) {
    if (here[at] == there[at]) continue;
    ++different;
    const std::string_view kind = difference(i, here[at], there[at]);
    if (++kinds[kind] > kDifferences) continue;
    const auto instruction = at / static_cast<std::size_t>(32 * info(i).words_out);
    fmt::print("    {}: {:08x} here, {:08x} there; instruction {}, word {}, {}\n", kind, here[at], there[at], instruction,
               at % static_cast<std::size_t>(info(i).words_out), explain(i, in, static_cast<std::int64_t>(at)));
  }
  for (const auto& [kind, n] : kinds) fmt::print("    {} of {} results differ in {}\n", n, here.size(), kind);
  return different;
}

}  // namespace

int probe_command(const ProbeFlags& flags) {
  std::string name;
  int code = 0;
  if (!backend_ready(flags.machine, name, code)) return code;
  const bool live = flags.against == "simt";
  std::map<std::string, Probed> expected;
  if (!flags.against.empty() && !live) expected = probed_in(flags.against);
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
  std::int64_t total = 0, same = 0, different = 0, unknown_there = 0, skipped = 0;
  for (const InstructionInfo& what : kInstructions) {
    if (backend->arch() < what.min_arch) {
      ++skipped;
      fmt::print("  {:<26} needs sm_{}, this is sm_{}\n", what.name, what.min_arch, backend->arch());
      continue;
    }
    for (const ProbeClass& c : probe_classes(what.what)) {
      const Bits in = probe_inputs(what.what, c);
      const Bits out = results(*backend, what.what, c.instructions, in);
      const Probed o = probed(what.what, in, out);
      if (json) json->write(to_line(what.what, c, o));
      total += static_cast<std::int64_t>(out.size());
      fmt::print("  {:<26} {:<12} {:>10}  ", what.name, c.name, out.size());
      if (o.worst_error) {
        const bool good = *o.worst_error <= kExp2Error;
        fmt::print("{} within {:.3f} · 2^-24 of 2^x\n", good ? "" : "DIFFERENT", *o.worst_error);
        good ? ++same : ++different;
        continue;
      }
      if (flags.against.empty()) {
        fmt::print("{}\n", digest(out.data(), out.size()));
        continue;
      }
      const auto at = expected.find(key_of(what.what, c));
      if (!live && at == expected.end()) {
        ++unknown_there;
        fmt::print("not there\n");
        continue;
      }
      if (!live && at->second.inputs != o.inputs) throw BadInput(fmt::format("'{}' was made with other inputs", flags.against));
      const Bits there = live ? results(*other, what.what, c.instructions, in) : Bits{};
      const auto blocks = different_blocks(o, live ? probed(what.what, in, there) : at->second);
      if (blocks.empty()) {
        ++same;
        fmt::print("the same\n");
        continue;
      }
      ++different;
      fmt::print("DIFFERENT in {} of {} digests; first in instructions {} to {}\n", blocks.size(), o.digests.size(),
                 blocks[0] * static_cast<std::size_t>(kPerDigest), (blocks[0] + 1) * static_cast<std::size_t>(kPerDigest) - 1);
      if (live) show_differences(what.what, in, out, there);
    }
  }
  fmt::print("\n{} results{}", total, skipped ? fmt::format(" · {} instructions not of this device", skipped) : "");
  if (flags.against.empty()) {
    fmt::print(" on {}\n", name);
  } else {
    fmt::print(" against {}: {} classes the same, {} different, {} not there\n", flags.against, same, different, unknown_there);
    if (same == 0 && different == 0) throw BadInput(fmt::format("'{}' has none of these instructions", flags.against));
  }
  return different == 0 ? kAllPassed : kVerdictFailed;
}

}  // namespace assay
