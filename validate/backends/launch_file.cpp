// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "validate/base/error.hpp"
#include "validate/cases/json_node.hpp"

namespace assay {

namespace {

using Node = JsonNode<nlohmann::json>;

Expression expression(const Node& n, const Op& op, std::string_view text) {
  try {
    return Expression(op, text);
  } catch (const BadInput& e) {
    n.fail(e.what());
  }
}
Expression expression(const Node& n, const Op& op) {
  return expression(n, op, n.json.is_number_unsigned() ? n.json.dump() : n.text());
}

std::array<Expression, 3> three(const Node& of, const Op& op) {
  std::array<Expression, 3> all{Expression(1.0), Expression(1.0), Expression(1.0)};
  std::size_t k = 0;
  for (const Node& n : of.list(3)) all[k++] = expression(n, op);
  return all;
}

std::size_t tensor_of(const Node& n, const Op& op, const std::string& name) {
  const std::size_t k = tensor_index(op, name);
  if (k < op.tensors.size()) return k;
  Names names;
  for (const TensorSpec& t : op.tensors) names.push_back(t.name);
  n.fail(unknown("tensor", name, names));
}

// `NAME box=[64,64] swizzle=128`
void read_map(const Node& n, const Op& op, const std::string& text, LaunchParameter::Member& m) {
  constexpr const char* kExpected = "'map NAME box=[N, ...]', and 'swizzle=32', 64 or 128 behind it, was expected";
  m.kind = LaunchParameter::Kind::map;
  const std::size_t name_end = text.find(' '), box = text.find("box=["), close = text.find(']');
  if (name_end == text.npos || box != name_end + 1 || close == text.npos) n.fail(kExpected);
  m.tensor = tensor_of(n, op, text.substr(0, name_end));
  for (std::size_t from = box + 5; from < close;) {
    const std::size_t end = std::min(text.find(',', from), close);
    int extent = 0;
    const char* first = text.data() + std::min(text.find_first_not_of(' ', from), end);
    const auto [stop, error] = std::from_chars(first, text.data() + end, extent);
    if (error != std::errc() || stop != text.data() + end || extent < 1 || extent > 256)
      n.fail("the box of a map has 1 to 256 elements along each axis.");
    m.box.push_back(extent);
    from = end + 1;
  }
  const std::size_t rank = op.tensors[m.tensor].axes.size();
  if (m.box.size() != rank || rank > 5)
    n.fail(fmt::format("the box has {} axes, and '{}' has {}.", m.box.size(), op.tensors[m.tensor].name, rank));
  const std::string rest = text.substr(close + 1);
  if (rest.empty()) return;
  if (rest != " swizzle=32" && rest != " swizzle=64" && rest != " swizzle=128") n.fail(kExpected);
  m.swizzle = std::stoi(rest.substr(9));
}

LaunchParameter::Member member_of(const Node& n, const Op& op) {
  using Kind = LaunchParameter::Kind;
  const std::string text = n.text();
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string kind = text.substr(0, space), rest = text.substr(std::min(space + 1, text.size()));
  LaunchParameter::Member m;
  if (kind == "ptr") {
    m.tensor = tensor_of(n, op, rest);
    return m;
  }
  if (kind == "map") {
    read_map(n, op, rest, m);
    return m;
  }
  m.kind = kind == "i32" ? Kind::word : kind == "i64" ? Kind::wide : kind == "f32" ? Kind::single : Kind::workspace;
  if (m.kind == Kind::workspace && kind != "workspace")
    n.fail(fmt::format(
        "'{}' is no parameter: 'ptr NAME', 'map NAME ...', 'i32 EXPR', 'i64 EXPR', 'f32 EXPR' or 'workspace + EXPR' was expected",
        text));
  if (m.kind == Kind::workspace && !rest.empty() && !rest.starts_with("+ ")) n.fail("'workspace + EXPR' was expected");
  m.expression = m.kind != Kind::workspace ? expression(n, op, rest)
                 : rest.empty()            ? Expression(0.0)
                                           : expression(n, op, rest.substr(2));
  return m;
}

FileLaunch launch_of(const Node& n, const Op& op, std::vector<std::string>& dtypes) {
  n.object({"entry", "grid", "block", "shared", "dependent", "parameters"});
  FileLaunch l;
  l.where = n.place.text();
  const Node entry = n.at("entry");
  if (!entry.json.is_object() || entry.json.empty()) entry.fail("expected an object: a name of an entry for each dtype.");
  for (const auto& [dtype, value] : entry.json.items()) {
    if (dtype != "f16" && dtype != "bf16" && dtype != "f32") entry.fail(unknown("dtype", dtype, {"f16", "bf16", "f32"}));
    l.entries[dtype] = entry.at(dtype).text();
  }
  std::vector<std::string> here;
  for (const auto& [dtype, name] : l.entries) here.push_back(dtype);
  if (dtypes.empty()) dtypes = here;
  if (dtypes != here) entry.fail("every launch names an entry for the same dtypes.");
  l.grid = three(n.at("grid"), op);
  l.block = three(n.at("block"), op);
  if (n.has("dependent")) l.dependent = n.at("dependent").flag();
  l.shared = n.has("shared") ? expression(n.at("shared"), op) : Expression(0.0);
  for (const Node& p : n.at("parameters").list(256)) {
    LaunchParameter parameter;
    if (p.json.is_array())
      for (const Node& part : p.list(64)) parameter.members.push_back(member_of(part, op));
    else parameter.members.push_back(member_of(p, op));
    l.parameters.push_back(std::move(parameter));
  }
  return l;
}

}  // namespace

std::size_t LaunchParameter::bytes() const {
  std::size_t n = 0, align = 1;
  for (const Member& m : members) {
    n = (n + m.bytes() - 1) / m.bytes() * m.bytes() + m.bytes();
    align = std::max(align, m.bytes());
  }
  return (n + align - 1) / align * align;
}

MappedTensor mapped(const LaunchParameter::Member& map, const AssayCall& call) {
  const AssayTensor* const t = call.tensors[map.tensor];
  if (!t) throw std::runtime_error("the case has no tensor for a map");
  const AssayDLTensor& dl = t->dl;
  MappedTensor m;
  m.data = dl.data;
  m.rank = dl.ndim;
  m.element_bytes = dl.dtype_bits / 8;
  m.swizzle = map.swizzle;
  if (dl.dtype_code == 0) throw std::runtime_error(fmt::format("'{}' has integers, and a map needs f16, bf16 or f32", t->name));
  m.element = dl.dtype_bits == 32  ? MappedTensor::Element::single
              : dl.dtype_code == 4 ? MappedTensor::Element::bfloat16
                                   : MappedTensor::Element::half;
  for (int d = 0; d < m.rank; ++d) {
    const int axis = m.rank - 1 - d;
    m.extents[d] = dl.shape[axis];
    m.box[d] = map.box[static_cast<std::size_t>(d)];
    if (d > 0) m.strides_bytes[d - 1] = dl.strides[axis] * m.element_bytes;
  }
  if (m.rank > 0 && m.extents[0] > 1 && dl.strides[m.rank - 1] != 1)
    throw std::runtime_error(fmt::format("'{}' has elements that are not side by side, which a map needs", t->name));
  return m;
}

LaunchFile read_launch_file(const std::string& path) {
  LaunchFile file;
  file.text = json_text(path);
  const auto json = parse_json<nlohmann::json>(file.text, path);
  const Node root{json, {path, ""}};
  root.object({"op", "kernel", "about", "numerics", "deterministic", "finite_inputs", "position_matters", "supports", "workspace",
               "launches"});
  file.op = find_op(root.at("op").text());
  if (!file.op) {
    Names names;
    for (const Op& op : ops()) names.push_back(op.name);
    root.at("op").fail(unknown("op", root.at("op").text(), names));
  }
  ListedKernel& k = file.kernel;
  k.op = file.op->name;
  k.name = root.has("kernel") ? root.at("kernel").text() : std::filesystem::path(path).stem().string();
  if (root.has("about")) k.about = root.at("about").text();
  if (root.has("numerics")) k.numerics = root.at("numerics").text();
  if (root.has("deterministic")) k.deterministic = root.at("deterministic").flag();
  if (root.has("finite_inputs")) k.finite_inputs = root.at("finite_inputs").flag();
  if (root.has("position_matters")) k.position_matters = root.at("position_matters").flag();
  if (root.has("supports"))
    for (const Node& n : root.at("supports").list(64)) file.supports.push_back(expression(n, *file.op, n.text()));
  if (root.has("workspace")) file.workspace = expression(root.at("workspace"), *file.op);
  for (const Node& n : root.at("launches").list(64)) file.launches.push_back(launch_of(n, *file.op, k.dtypes));
  return file;
}

}  // namespace assay
