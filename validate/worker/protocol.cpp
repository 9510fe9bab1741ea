// SPDX-License-Identifier: Apache-2.0
// Orders and replies as text.
#include "validate/worker/protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay {

using Json = nlohmann::json;

namespace {

// A candidate's exception may say anything: one line, no control characters, and short enough for one packet.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text.resize(kMost), text += " ...";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

// Note: the JSON library casts 1e300 to an integer, which is undefined; a candidate may have forged the reply.
template <class T>
T whole(const Json& j) {
  if (!j.is_number_integer()) throw std::invalid_argument("not a whole number");
  return j.get<T>();
}

}  // namespace

std::string to_text(const Order& o) {
  return Json{{"id", o.id},
              {"kernel", o.kernel},
              {"op", o.c.op},
              {"dtype", static_cast<int>(o.c.dtype)},
              {"dims", o.c.dims.extent},
              {"attributes", o.c.attributes},
              {"fill", o.c.fill},
              {"layout", o.c.layout},
              {"seed", o.c.seed},
              {"sectors", o.sectors},
              {"relations", o.relations},
              {"watch", o.watch}}
      .dump();
}

Order order_from(const std::string& text) {
  const Json j = Json::parse(text);
  Order o;
  o.id = j.at("id");
  o.kernel = j.at("kernel");
  o.c.op = j.at("op");
  o.c.dtype = static_cast<DType>(j.at("dtype").get<int>());
  o.c.dims.extent = j.at("dims");
  o.c.attributes = j.at("attributes");
  o.c.fill = j.at("fill");
  o.c.layout = j.at("layout");
  o.c.seed = j.at("seed");
  o.sectors = j.at("sectors");
  o.relations = j.at("relations");
  o.watch = j.at("watch");
  return o;
}

std::string to_text(const Reply& r) {
  Json traffic = Json::object();
  for (const auto& [tensor, t] : r.traffic)
    traffic[tensor] = {t.read_bytes,           t.written_bytes, t.unique_read_bytes,
                       t.unique_written_bytes, t.read_sectors,  t.written_sectors};
  constexpr std::size_t kMostSites = 150;  // what one packet has room for
  std::vector<SiteTraffic> most = r.sites;
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (most.size() > kMostSites) most.resize(kMostSites);
  Json sites = Json::array();
  for (const SiteTraffic& s : most) sites.push_back({s.place, s.buffer, s.write, s.bytes, s.requests, s.sectors, s.wavefronts});
  return Json{{"id", r.id},
              {"status", static_cast<int>(r.status)},
              {"message", one_line(r.message)},
              {"outputs", r.outputs},
              {"tainted", r.tainted},
              {"seconds", r.seconds},
              {"traffic", traffic},
              {"related", r.related},
              {"sites", sites}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reply reply_from(const std::string& text) {
  const Json j = Json::parse(text);
  Reply r;
  r.id = whole<std::int64_t>(j.at("id"));
  r.status = static_cast<Reply::Status>(whole<int>(j.at("status")));
  r.message = j.at("message");
  r.outputs = j.value("outputs", false);
  r.tainted = j.at("tainted");
  r.seconds = j.at("seconds");
  r.related = j.value("related", std::vector<bool>{});
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
