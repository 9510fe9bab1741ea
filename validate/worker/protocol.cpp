// SPDX-License-Identifier: Apache-2.0
// Orders and replies to and from JSON text.
#include "validate/worker/protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "validate/base/input.hpp"
#include "validate/problem/numerics/numerics_text.hpp"

namespace assay {

using Json = nlohmann::json;

namespace {

// A candidate's exception may hold any text.  The result is one line, has no control characters and fits in a packet.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) {
    text.resize(kMost);
    text += " ...";
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return plain(text);
}

Json parsed(const std::string& text) {
  if (nests_too_deeply(text)) throw std::invalid_argument("its lists and objects lie too deep in each other");
  return Json::parse(text);
}

// Note: the JSON library casts 1e300 to an integer, which is undefined behaviour, and a candidate may have forged the reply.
template <class T>
T whole(const Json& j) {
  if (!j.is_number_integer()) throw std::invalid_argument("not a whole number");
  return j.get<T>();
}

}  // namespace

Order order_of(const Op& op, const Case& c, const Packing& packing, std::string_view kernel) {
  Order o{.op = std::string(op.name), .kernel = std::string(kernel), .dtype = c.dtype};
  o.input_bytes = packing.input_bytes;
  o.output_bytes = packing.output_bytes;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const TensorSpec& spec = op.tensors[i];
    OrderTensor& t =
        o.tensors.emplace_back(OrderTensor{.name = std::string(spec.name), .role = spec.role, .place = packing.placements[i]});
    if (is_given(spec)) t.input = packing.given[i];
    if (spec.role == Role::output) {
      t.output = packing.at[i];
      t.over = lies_over(op, c, i);
    }
  }
  const OpShape shape = op.shape();
  for (const auto& [name, value] : c.attributes) {
    const Attribute* attribute = find_attribute(shape, name);
    if (attribute && !attribute->choices.empty()) o.attributes[name] = text_of(*attribute, value);
    else o.attributes[name] = value;
  }
  return o;
}

namespace {

constexpr std::string_view kRoles[] = {"input", "weight", "output"};
constexpr std::string_view kOrders[] = {"forward", "reverse", "shuffled"};

template <std::size_t N>
int word_in(const std::string_view (&words)[N], const std::string& word) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<int>(i);
  throw std::invalid_argument("unknown word '" + word + "'");
}

DType dtype_from(const Json& j) {
  const auto dtype = parse_dtype(j.get<std::string>());
  if (!dtype) throw std::invalid_argument("unknown dtype");
  return *dtype;
}

Json json_of(const OrderTensor& t) {
  const Tensor& tensor = t.place.tensor;
  const auto rank = static_cast<std::size_t>(tensor.rank);
  Json j{{"name", t.name}, {"role", kRoles[static_cast<int>(t.role)]}, {"dtype", name(tensor.dtype)}};
  j["shape"] = std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.begin() + static_cast<std::ptrdiff_t>(rank));
  j["strides"] = std::vector<std::int64_t>(tensor.stride.begin(), tensor.stride.begin() + static_cast<std::ptrdiff_t>(rank));
  j["offset"] = t.place.offset;
  j["bytes"] = t.place.bytes;
  if (t.input) j["input"] = *t.input;
  if (t.output) j["output"] = *t.output;
  if (t.over) j["over"] = *t.over;
  return j;
}

// Whether `bytes` bytes from `begin` on lie within `room`, without a sum that may overflow.
bool within(std::size_t begin, std::size_t bytes, std::size_t room) { return begin <= room && bytes <= room - begin; }

OrderTensor tensor_from(const Json& j, const Order& o) {
  OrderTensor t{.name = j.at("name"), .role = static_cast<Role>(word_in(kRoles, j.at("role"))), .place = {}};
  const auto shape = j.at("shape").get<std::vector<std::int64_t>>(), strides = j.at("strides").get<std::vector<std::int64_t>>();
  Tensor& tensor = t.place.tensor;
  if (shape.size() != strides.size() || shape.size() > kMaxRank) throw std::invalid_argument("a tensor of bad rank");
  tensor.dtype = dtype_from(j.at("dtype"));
  tensor.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  std::copy(strides.begin(), strides.end(), tensor.stride.begin());
  t.place.offset = whole<std::size_t>(j.at("offset"));
  t.place.bytes = whole<std::size_t>(j.at("bytes"));
  const auto place = [&](const char* key, std::optional<std::size_t>& at, std::size_t room) {
    if (!j.contains(key)) return;
    at = whole<std::size_t>(j.at(key));
    if (!within(*at, t.place.bytes, room)) throw std::invalid_argument("a tensor beyond its memory");
  };
  place("input", t.input, o.input_bytes);
  place("output", t.output, o.output_bytes);
  if (j.contains("over")) t.over = whole<std::size_t>(j.at("over"));
  if (t.over && *t.over >= o.tensors.size()) throw std::invalid_argument("a tensor over one that does not come before it");
  // The last element must lie within the image.  Each axis is checked, since products of extents and strides may overflow.
  std::int64_t room = static_cast<std::int64_t>(t.place.bytes / static_cast<std::size_t>(size_of(tensor.dtype)));
  bool empty = tensor.rank == 0;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw std::invalid_argument("a negative extent");
    empty = empty || extent == 0;
  }
  if (empty) return t;
  --room;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (strides[a] < 0 || room < 0 || (shape[a] > 1 && strides[a] > room / (shape[a] - 1)))
      throw std::invalid_argument("a tensor beyond its image");
    room -= (shape[a] - 1) * strides[a];
  }
  if (room < 0) throw std::invalid_argument("a tensor beyond its image");
  return t;
}

Json json_of(const OrderRun& r) {
  Json j{{"order", kOrders[r.how.order]},
         {"seed", r.how.seed},
         {"sectors", r.how.sectors},
         {"watch", r.how.watch},
         {"garbage", std::to_integer<int>(r.garbage)},
         {"inputs", r.inputs},
         {"keeps", r.keeps},
         {"replayed", r.replayed}};
  if (r.after) {
    j["after"] = *r.after;
    j["calls"] = r.calls;
  }
  return j;
}

OrderRun run_from(const Json& j, const Order& o) {
  OrderRun r;
  r.how = {.order = word_in(kOrders, j.at("order")),
           .seed = whole<std::uint64_t>(j.at("seed")),
           .sectors = j.at("sectors"),
           .watch = j.at("watch")};
  const int garbage = whole<int>(j.at("garbage"));
  if (garbage < 0 || garbage > 255) throw std::invalid_argument("garbage is a byte");
  r.garbage = static_cast<std::byte>(garbage);
  r.inputs = whole<std::size_t>(j.at("inputs"));
  r.keeps = j.at("keeps");
  r.replayed = j.at("replayed");
  if (j.contains("after")) {
    r.after = whole<std::size_t>(j.at("after"));
    r.calls = whole<std::size_t>(j.at("calls"));
  }
  if (r.calls < 1 || r.calls > kMostCalls) throw std::invalid_argument("a number of calls that no judge asks for");
  if (r.inputs >= o.input_sets || r.after.value_or(0) >= o.input_sets)
    throw std::invalid_argument("a run on a set of inputs that does not exist");
  return r;
}

}  // namespace

std::string to_text(const Order& o) {
  Json j{{"protocol", kWorkerProtocol},
         {"id", o.id},
         {"op", o.op},
         {"kernel", o.kernel},
         {"dtype", name(o.dtype)},
         {"attributes", Json::object()},
         {"input_bytes", o.input_bytes},
         {"input_sets", o.input_sets},
         {"output_bytes", o.output_bytes}};
  for (const auto& [name, value] : o.attributes) std::visit([&, key = name](const auto& v) { j["attributes"][key] = v; }, value);
  for (const OrderTensor& t : o.tensors) j["tensors"].push_back(json_of(t));
  for (const OrderRun& r : o.runs) j["runs"].push_back(json_of(r));
  return j.dump();
}

Order order_from(const std::string& text) {
  const Json j = parsed(text);
  if (const int version = whole<int>(j.at("protocol")); version != kWorkerProtocol)
    throw std::invalid_argument("the order has protocol " + std::to_string(version) + ", this worker speaks " +
                                std::to_string(kWorkerProtocol));
  Order o{.id = whole<std::int64_t>(j.at("id")), .op = j.at("op"), .kernel = j.at("kernel"), .dtype = dtype_from(j.at("dtype"))};
  o.input_bytes = whole<std::size_t>(j.at("input_bytes"));
  o.output_bytes = whole<std::size_t>(j.at("output_bytes"));
  o.input_sets = whole<std::size_t>(j.at("input_sets"));
  for (const auto& [name, value] : j.at("attributes").items()) {
    if (value.is_number()) o.attributes[name] = value.get<double>();
    else o.attributes[name] = value.get<std::string>();
  }
  for (const Json& t : j.at("tensors")) o.tensors.push_back(tensor_from(t, o));
  for (const Json& r : j.at("runs")) o.runs.push_back(run_from(r, o));
  return o;
}

std::int64_t id_of(const std::string& order) {
  const Json j = Json::parse(order, nullptr, false);
  return j.is_object() && j.contains("id") && j["id"].is_number_integer() ? j["id"].get<std::int64_t>() : 0;
}

std::string to_text(const Reply& r) {
  Json traffic = Json::object();
  for (const auto& [tensor, t] : r.traffic)
    traffic[tensor] = {t.read_bytes,           t.written_bytes, t.unique_read_bytes,
                       t.unique_written_bytes, t.read_sectors,  t.written_sectors};
  constexpr std::size_t kMostSites = 150;  // that fit in a packet
  std::vector<SiteTraffic> most = r.sites;
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (most.size() > kMostSites) most.resize(kMostSites);
  Json sites = Json::array();
  for (const SiteTraffic& s : most) sites.push_back({s.place, s.buffer, s.write, s.bytes, s.requests, s.sectors, s.wavefronts});
  Json j{{"id", r.id},
         {"status", static_cast<int>(r.status)},
         {"message", one_line(r.message)},
         {"outputs", r.outputs},
         {"tainted", r.tainted},
         {"seconds", r.seconds},
         {"traffic", traffic},
         {"ran", r.ran},
         {"workspace", r.workspace},
         {"sites", sites}};
  if (!r.fidelity.empty()) j["fidelity"] = r.fidelity;
  for (const Numerics& n : r.steps) j["steps"].push_back(text_of(n));
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reply reply_from(const std::string& text) {
  const Json j = parsed(text);
  Reply r;
  r.id = whole<std::int64_t>(j.at("id"));
  r.status = static_cast<Reply::Status>(whole<int>(j.at("status")));
  r.message = one_line(j.at("message"));  // of any program
  r.outputs = j.value("outputs", false);
  r.tainted = j.at("tainted");
  r.seconds = std::max(0.0, j.at("seconds").get<double>());
  r.ran = whole<std::size_t>(j.at("ran"));
  r.workspace = whole<std::size_t>(j.value("workspace", Json(0)));
  r.fidelity = one_line(j.value("fidelity", ""));
  for (const Json& s : j.value("steps", Json::array())) r.steps.push_back(numerics_from(s.get<std::string>()));
  for (const auto& [tensor, t] : j.at("traffic").items())
    r.traffic[tensor] = {.read_bytes = whole<std::uint64_t>(t.at(0)),
                         .written_bytes = whole<std::uint64_t>(t.at(1)),
                         .unique_read_bytes = whole<std::uint64_t>(t.at(2)),
                         .unique_written_bytes = whole<std::uint64_t>(t.at(3)),
                         .read_sectors = whole<std::uint64_t>(t.at(4)),
                         .written_sectors = whole<std::uint64_t>(t.at(5))};
  for (const Json& s : j.value("sites", Json::array()))
    r.sites.push_back({.place = s.at(0),
                       .buffer = s.at(1),
                       .write = s.at(2),
                       .bytes = whole<std::uint64_t>(s.at(3)),
                       .requests = whole<std::uint64_t>(s.at(4)),
                       .sectors = whole<std::uint64_t>(s.at(5)),
                       .wavefronts = whole<std::uint64_t>(s.at(6))});
  return r;
}

}  // namespace assay
