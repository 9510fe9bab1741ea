// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

using Json = nlohmann::json;

namespace {

constexpr std::string_view kAsk = "kernels";
constexpr std::size_t kPacketBytes = 60'000;  // of a packet's 64 KiB
constexpr std::size_t kMostKernels = 100'000;
constexpr std::size_t kMostAbout = 500;  // bytes
// The last word of the numerics of a kernel whose steps have their own (Reply::steps).
constexpr std::string_view kOfSteps = " of_output";

Json json_of(const ListedKernel& k) {
  Json j{{"op", k.op},
         {"kernel", k.name},
         {"dtypes", k.dtypes},
         {"deterministic", k.deterministic},
         {"finite_inputs", k.finite_inputs},
         {"position_matters", k.position_matters}};
  if (!k.numerics.empty()) j["numerics"] = k.numerics;
  if (!k.tiles.empty()) j["tiles"] = k.tiles;
  if (!k.tile_bytes.empty()) j["tile_bytes"] = k.tile_bytes;
  if (!k.about.empty()) j["about"] = k.about.substr(0, kMostAbout);
  if (!k.code.empty()) j["code"] = k.code;
  if (!k.fidelity.empty()) j["fidelity"] = k.fidelity;
  if (k.broken) j["broken"] = true;
  if (k.variant) j["variant"] = true;
  if (!k.backends.empty()) j["backends"] = k.backends;
  return j;
}

std::int64_t whole_number(const Json& j) {  // Note: the JSON library casts 1e300 to an integer, which is undefined behaviour
  if (!j.is_number_integer()) throw std::invalid_argument("not a whole number");
  return j.get<std::int64_t>();
}

// A text of any program as a line of a terminal.
std::string clean(const std::string& text) { return plain(std::string_view(text).substr(0, 300)); }

ListedKernel kernel_from(const Json& j) {
  ListedKernel k{.op = j.at("op"),
                 .name = j.at("kernel"),
                 .about = j.value("about", ""),
                 .code = j.value("code", ""),
                 .numerics = j.value("numerics", ""),
                 .dtypes = j.at("dtypes"),
                 .tiles = {}};
  k.fidelity = clean(j.value("fidelity", ""));
  k.deterministic = j.value("deterministic", true);
  k.finite_inputs = j.value("finite_inputs", false);
  k.position_matters = j.value("position_matters", false);
  k.broken = j.value("broken", false);
  k.variant = j.value("variant", false);
  k.backends = j.value("backends", std::vector<std::string>());
  for (const auto& [field, tiles] : {std::pair{"tiles", &k.tiles}, std::pair{"tile_bytes", &k.tile_bytes}})
    if (j.contains(field))
      for (const auto& [axis, extent] : j.at(field).items()) (*tiles)[axis] = whole_number(extent);
  return k;
}

// Stands for what a reply tells.
Numerics unknown_before_reply(const void* /*args*/, int /*output*/) {
  throw std::logic_error("the numerics of a step are asked for before its kernel has run");
}

// Whether a repro line, a file name and a shell's word can hold the name.
bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), plain);
}

Kernel kernel_of(const ListedKernel& k) {
  const Op* op = find_op(k.op);
  if (!op) {
    Names names;
    for (const Op& known : ops()) names.push_back(known.name);
    throw BadInput(unknown("op", k.op, names) + "  (validate list ops)");
  }
  Kernel kernel{.op = op->name, .name = k.name, .about = k.about};
  for (const std::string& text : k.dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype || std::find(kActivationDTypes.begin(), kActivationDTypes.end(), *dtype) == kActivationDTypes.end())
      throw BadInput(unknown_dtype(text));
    kernel.dtypes.bits |= 1u << static_cast<int>(*dtype);
  }
  if (k.dtypes.empty()) throw BadInput("it declares no dtype; f16, bf16 and f32 are known");
  kernel.declares_numerics = !k.numerics.empty();
  const bool of_steps = op->composite && k.numerics.ends_with(kOfSteps);
  kernel.numerics =
      numerics_from(std::string_view(k.numerics).substr(0, k.numerics.size() - (of_steps ? kOfSteps.size() : 0)), k.op);
  if (of_steps) kernel.numerics.of_output = unknown_before_reply;
  if (const std::size_t axes = k.tiles.size() + k.tile_bytes.size(); axes > kernel.tiles.size())
    throw BadInput(fmt::format("it declares tiles of {} axes, at most {} were expected", axes, kernel.tiles.size()));
  std::size_t at = 0;
  const auto add_tile = [&](const std::string& axis, std::int64_t extent, Tile (*tile_of)(Axis, std::int64_t)) {
    const auto use = std::find_if(op->axes.begin(), op->axes.end(),
                                  [&, word = std::string_view(axis)](const AxisUse& u) { return u.axis.name == word; });
    if (use == op->axes.end() || extent < 1)
      throw BadInput(fmt::format("'{}={}' is no tile; an axis of the op and an extent of at least 1 were expected",
                                 axis.substr(0, 80), extent));
    kernel.tiles[at++] = tile_of(use->axis, extent);
  };
  for (const auto& [axis, extent] : k.tiles) add_tile(axis, extent, tile);
  for (const auto& [axis, bytes] : k.tile_bytes) add_tile(axis, bytes, tile_bytes);
  kernel.deterministic = k.deterministic;
  kernel.finite_inputs = k.finite_inputs;
  kernel.position_matters = k.position_matters;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (k.code.size() > 64 || !std::all_of(k.code.begin(), k.code.end(), is_digit))
    throw BadInput(fmt::format("'{}' is no code hash; up to 64 hexadecimal digits were expected", k.code.substr(0, 80)));
  kernel.code = k.code;
  kernel.fidelity = k.fidelity;
  kernel.broken = k.broken;
  kernel.variant = k.variant;
  for (const std::string& backend : k.backends) kernel.backends.emplace_back(backend);
  return kernel;
}

}  // namespace

std::string in_words(const std::vector<std::string>& checks) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"bounds", "writes outside tensors"},
                                                                      {"inputs", "changed inputs"},
                                                                      {"reads", "reads outside tensors"},
                                                                      {"races", "races"},
                                                                      {"uninitialised", "reads of memory that nobody wrote"},
                                                                      {"traffic", "traffic"},
                                                                      {"plain", "accesses without ld and st"},
                                                                      {"second_run", "a second run"},
                                                                      {"together", "all errors together"}};
  std::string text;
  for (const std::string& check : checks) {
    const auto* known = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& w) { return w.first == check; });
    text += fmt::format("{}{}", text.empty() ? "" : ", ", known == std::end(kWords) ? check : known->second);
  }
  return text;
}

std::vector<std::string> left_unchecked(std::string_view backend, const std::vector<std::string>& made) {
  std::vector<std::string> left;
  for (const std::string_view check : kChecks) {
    if (check == "plain" && backend != "simt") continue;
    if (std::ranges::find(made, check) == made.end()) left.emplace_back(check);
  }
  return left;
}

std::string question(std::int64_t id, std::size_t from) {
  return Json{{"protocol", kWorkerProtocol}, {"id", id}, {"ask", kAsk}, {"from", from}}.dump();
}

bool is_question(const std::string& text) {
  const Json j = Json::parse(text, nullptr, false);
  return j.is_object() && j.contains("ask");
}

std::string answer(const std::string& text, Listing all) {
  const Json asked = Json::parse(text);
  const std::int64_t id = whole_number(asked.at("id")), version = whole_number(asked.at("protocol")),
                     from = whole_number(asked.at("from"));
  if (version != kWorkerProtocol)
    all.refused = fmt::format("the question has protocol {}, this worker speaks {}", version, kWorkerProtocol);
  else if (asked.at("ask") != kAsk) all.refused = "the question is not about kernels";
  Json j{{"id", id}, {"status", 3}, {"message", all.refused}};
  if (all.refused.empty()) {
    j = {{"id", id},
         {"status", 0},
         {"message", ""},
         {"backend", all.backend},
         {"device", all.device},
         {"checks", all.checks},
         {"total", all.kernels.size()},
         {"kernels", Json::array()}};
    if (!all.built.empty()) j["built"] = all.built;
    std::size_t bytes = 1000;
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(from, 0)); i < all.kernels.size(); ++i) {
      Json kernel = json_of(all.kernels[i]);
      bytes += kernel.dump(-1, ' ', true, Json::error_handler_t::replace).size() + 1;
      if (bytes > kPacketBytes) break;
      j["kernels"].push_back(std::move(kernel));
    }
  }
  return j.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Listing listing_from(const std::string& text, std::int64_t id) {
  const Json j = Json::parse(text);
  if (whole_number(j.at("id")) != id) throw std::invalid_argument("the answer to another question");
  Listing list;
  if (whole_number(j.at("status")) != 0) {
    list.refused = clean(j.at("message"));
    if (list.refused.empty()) list.refused = "it gives no reason";
    return list;
  }
  list.backend = j.at("backend");
  list.device = clean(j.value("device", list.backend));
  list.built = clean(j.value("built", ""));
  list.checks = j.at("checks").get<std::vector<std::string>>();
  for (const Json& k : j.at("kernels").get<std::vector<Json>>()) list.kernels.push_back(kernel_from(k));
  const std::int64_t total = j.contains("total") ? whole_number(j.at("total")) : static_cast<std::int64_t>(list.kernels.size());
  if (total < 0 || static_cast<std::size_t>(total) > kMostKernels)
    throw std::invalid_argument("a number of kernels out of range");
  list.total = static_cast<std::size_t>(total);
  return list;
}

ListedKernel listed(const Kernel& k) {
  ListedKernel list{.op = std::string(k.op),
                    .name = std::string(k.name),
                    .about = std::string(k.about),
                    .code = std::string(k.code),
                    .fidelity = std::string(k.fidelity),
                    .numerics = k.declares_numerics ? text_of(k.numerics) : "",
                    .dtypes = {},
                    .tiles = {}};
  for (const DType t : kActivationDTypes)
    if (k.dtypes.has(t)) list.dtypes.emplace_back(name(t));
  for (const Tile& t : k.tiles)
    if (t.bytes_or_extent) (t.of_bytes ? list.tile_bytes : list.tiles)[std::string(t.axis.name)] = t.bytes_or_extent;
  list.deterministic = k.deterministic;
  list.finite_inputs = k.finite_inputs;
  list.position_matters = k.position_matters;
  list.broken = k.broken;
  list.variant = k.variant;
  for (const std::string_view backend : {"simt", "cuda", "host"})
    if (is_built_for(backend, k)) list.backends.emplace_back(backend);
  return list;
}

bool has_steps_elsewhere(const Kernel& k) { return k.numerics.of_output == unknown_before_reply; }

std::vector<Kernel> kernels_of(const std::vector<ListedKernel>& list) {
  if (list.empty()) throw BadInput("it lists no kernel");
  std::vector<Kernel> all;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ListedKernel& k : list) {
    if (!is_name(k.name))
      throw BadInput(
          fmt::format("'{}' is no name of a kernel; 1 to 64 letters, digits and _ were expected", k.name.substr(0, 80)));
    if (!seen.insert({k.op, k.name}).second) throw BadInput(fmt::format("it lists the kernel '{}/{}' twice", k.op, k.name));
    try {
      all.push_back(kernel_of(k));
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("its kernel '{}/{}': {}", k.op.substr(0, 80), k.name, e.what()));
    }
  }
  return all;
}

}  // namespace assay
