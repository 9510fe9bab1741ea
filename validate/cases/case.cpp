// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <system_error>

#include "validate/base/error.hpp"
#include "validate/cases/float_value.hpp"
#include "validate/values/common_fills.hpp"
#include "validate/values/layout.hpp"

namespace assay {
namespace {

template <class T>
std::string shortest(T v) {
  std::array<char, 40> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  return {text.data(), end};
}

[[noreturn]] void fail(std::string_view key, std::string_view value, std::string_view why) {
  throw BadInput(fmt::format("{}={}: {}.", key, value.substr(0, 80), why));
}

// Parses the whole text as a T, with separate errors for a value out of range and for text that is not a number.
template <class T>
T number(std::string_view key, std::string_view text, std::string_view kind) {
  T v{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc::result_out_of_range) fail(key, text, "the value is out of range");
  if (error != std::errc{} || end != text.data() + text.size()) fail(key, text, fmt::format("not {}", kind));
  return v;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  constexpr std::string_view kSpace = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(kSpace); at != text.npos; at = text.find_first_not_of(kSpace, at)) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::vector<std::string_view> keys_of(const OpShape& op) {
  std::vector<std::string_view> out = axis_names(op);
  for (const Attribute& attribute : op.attributes) out.push_back(attribute.name);
  out.insert(out.end(), {"fill", "layout", "seed"});
  return out;
}

void read_pair(Case& c, const OpShape& op, std::string_view key, std::string_view value) {
  if (const AxisUse* use = find_axis(op, key)) {
    if (value.starts_with('-')) fail(key, value, "an extent cannot be negative");
    c.dims[use->axis] = number<std::int64_t>(key, value, "a whole number");
  } else if (const Attribute* attribute = find_attribute(op, key)) {
    const double v = value_of(*attribute, value);
    if (v != attribute->standard) c.attributes[std::string(key)] = v;
  } else if (key == "fill") {
    c.fill = value;
  } else if (key == "layout") {
    c.layout = value;
  } else if (key == "seed") {
    if (value.starts_with('-')) fail(key, value, "a seed cannot be negative");
    c.seed = number<std::uint64_t>(key, value, "a whole number");
  } else {
    throw BadInput(fmt::format("{}: {}", op.name, unknown("key", key, keys_of(op))));
  }
}

std::string judge_version(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.empty() || text.size() > 16 || !std::all_of(text.begin(), text.end(), digit))
    throw BadInput(
        fmt::format("judge={}: a version of the judge was expected, up to 16 hexadecimal digits.", text.substr(0, 80)));
  return std::string(text);
}

}  // namespace

const AxisUse* find_axis(const OpShape& op, std::string_view key) {
  for (const AxisUse& use : op.axes)
    if (use.axis.name == key) return &use;
  return nullptr;
}
const Attribute* find_attribute(const OpShape& op, std::string_view name) {
  for (const Attribute& a : op.attributes)
    if (a.name == name) return &a;
  return nullptr;
}
std::string text_of(const Attribute& a, double value) {
  const bool is_choice = value >= 0 && value < static_cast<double>(a.choices.size());
  return is_choice ? std::string(a.choices[static_cast<std::size_t>(value)]) : shortest(value);
}
double value_of(const Attribute& a, std::string_view text) {
  if (a.choices.empty()) {
    const double v = number<double>(a.name, text, "a number");
    if (const std::string_view why = no_float(v); !why.empty()) fail(a.name, text, why);
    return v;
  }
  const auto at = std::find(a.choices.begin(), a.choices.end(), text);
  if (at == a.choices.end()) throw BadInput(unknown(std::string(a.name), text, a.choices));
  return static_cast<double>(at - a.choices.begin());
}

const Fill* find_fill(const OpShape& op, std::string_view name) {
  const auto named = [&](const Fill& f) { return f.name == name; };
  if (const auto own = std::find_if(op.fills.begin(), op.fills.end(), named); own != op.fills.end()) return &*own;
  const auto all = common_fills();
  const auto common = std::find_if(all.begin(), all.end(), named);
  return common == all.end() ? nullptr : &*common;
}
std::vector<std::string_view> fill_names(const OpShape& op) {
  std::vector<std::string_view> out;
  for (const Fill& f : op.fills) out.push_back(f.name);
  for (const Fill& f : common_fills()) out.push_back(f.name);
  return out;
}
std::vector<std::string_view> layout_names() {
  std::vector<std::string_view> out;
  for (const Layout& l : kLayouts) out.push_back(l.name);
  return out;
}
std::vector<std::string_view> axis_names() {
  std::vector<std::string_view> out;
  for (const Axis& a : kAxes) out.push_back(a.name);
  return out;
}
std::vector<std::string_view> axis_names(const OpShape& op) {
  std::vector<std::string_view> out;
  for (const AxisUse& use : op.axes) out.push_back(use.axis.name);
  return out;
}
std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> out;
  for (const DType t : kActivationDTypes) out.push_back(name(t));
  return out;
}

std::string unknown_dtype(std::string_view text) {
  static const std::map<std::string_view, std::string_view> kElsewhere{
      {"half", "f16"},           {"float16", "f16"}, {"fp16", "f16"},    {"bfloat16", "bf16"}, {"bfloat", "bf16"},
      {"__nv_bfloat16", "bf16"}, {"float", "f32"},   {"float32", "f32"}, {"fp32", "f32"},      {"single", "f32"}};
  Names known = dtype_names();
  for (const auto& [theirs, ours] : kElsewhere) known.push_back(theirs);
  const std::string_view meant = nearest(text, known);
  if (meant.empty()) return unknown("dtype", text, dtype_names());
  const auto at = kElsewhere.find(meant);
  return fmt::format("unknown dtype '{}'. Did you mean '{}'?", text.substr(0, 200), at == kElsewhere.end() ? meant : at->second);
}

bool is_line_key(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos;
}

std::int64_t elements(const Case& c, const OpShape& op) {
  const bool grouped = find_axis(op, Axis::heads.name) != nullptr;
  // A transformer block, with attention and feed-forward, counts the wider of the two.
  const bool block = grouped && find_axis(op, Axis::ffn.name) != nullptr;
  const bool narrow_ffn = block && c.dims[Axis::ffn] / std::max<std::int64_t>(1, c.dims[Axis::heads]) < c.dims[Axis::head_dim];
  std::int64_t n = 1;
  bool empty = false, beyond = false;
  for (const AxisUse& use : op.axes) {
    const std::int64_t extent = c.dims[use.axis];
    if (use.axis == Axis::kv_heads && grouped) continue;
    if (use.axis == Axis::pages) continue;
    if (block && (use.axis == Axis::ffn ? narrow_ffn : !narrow_ffn && (use.axis == Axis::heads || use.axis == Axis::head_dim)))
      continue;
    empty |= extent == 0;
    // Note: an empty axis does not cancel the others, since their product is still a stride.
    if (extent > 1) {
      beyond |= extent > kMostElements / n;
      n = beyond ? kMostElements : n * extent;
    }
  }
  if (const std::int64_t pages = c.dims[Axis::pages]; pages > 0 && !beyond) {
    std::int64_t entries = 1;
    for (const Axis axis : {Axis::batch, Axis::max_pages}) entries *= std::max<std::int64_t>(1, c.dims[axis]);
    const std::int64_t times = (pages + entries - 1) / entries;
    beyond = times > kMostElements / n;
    n *= beyond ? 1 : times;
  }
  return beyond ? kMostElements + 1 : empty ? 0 : n;
}

void check(const Case& c, const OpShape& op) {
  for (const AxisUse& use : op.axes) {
    const std::int64_t extent = c.dims[use.axis];
    if (extent < use.least)
      throw BadInput(fmt::format("{}={}: {} needs at least {}.", use.axis.name, extent, op.name, use.least));
    if (extent > kMostExtent) throw BadInput(fmt::format("{}={}: more than 2^40.", use.axis.name, extent));
    if (extent > use.most) throw BadInput(fmt::format("{}={}: {} takes at most {}.", use.axis.name, extent, op.name, use.most));
  }
  if (elements(c, op) > kMostElements)
    throw BadInput(fmt::format("{}: the axes together have more than 2^46 elements.", op.name));
  for (const auto& [attribute, value] : c.attributes)
    if (const std::string_view why = no_float(value); !why.empty())
      throw BadInput(fmt::format("{}={}: {}.", attribute, value, why));
  if (c.dims[Axis::kv_heads] && c.dims[Axis::heads] % c.dims[Axis::kv_heads])
    throw BadInput(fmt::format("heads={}: not a multiple of kv_heads={}.", c.dims[Axis::heads], c.dims[Axis::kv_heads]));
  const Fill* fill = find_fill(op, c.fill);
  if (!fill) throw BadInput(unknown("fill", c.fill, fill_names(op)));
  if (op.shows_nothing && op.shows_nothing(c.fill, c.dtype))
    throw BadInput(fmt::format(
        "fill '{}' is none of those of {} in {}: what kernels keep between inputs and outputs overflows, or meets as infinity "
        "times 0, so sound ones differ.",
        c.fill, op.name, name(c.dtype)));
  if (fill->applies && !fill->applies(c.dims, c.dtype))
    throw BadInput(fmt::format("fill '{}' does not apply to these extents in {}.", c.fill, name(c.dtype)));
  const Layout* layout = find_layout(c.layout);
  if (!layout) throw BadInput(unknown("layout", c.layout, layout_names()));
  if (!applies(*layout, c.dtype))
    throw BadInput(fmt::format("layout '{}' breaks the alignment of {} elements.", c.layout, name(c.dtype)));
}

std::string repro(const Case& c, const OpShape& op, std::string_view kernel) {
  std::string text = c.op;
  if (!kernel.empty()) text.append("/").append(kernel);
  text.append(" ").append(name(c.dtype));
  const auto pair = [&](std::string_view key, std::string_view value) { text.append(" ").append(key).append("=").append(value); };
  for (const AxisUse& use : op.axes) pair(use.axis.name, shortest(c.dims[use.axis]));
  for (const Attribute& a : op.attributes)
    if (const double v = attribute(c, a.name, a.standard); v != a.standard) pair(a.name, text_of(a, v));
  if (c.fill != "normal") pair("fill", c.fill);
  if (c.layout != "contiguous") pair("layout", c.layout);
  pair("seed", shortest(c.seed));
  return text;
}

std::string shown_by(const Case& c, const OpShape& op) {
  std::string text;
  if (const Layout* layout = find_layout(c.layout); layout && c.layout != "contiguous")
    text = fmt::format("layout={} shows {}", c.layout, layout->shows);
  if (const Fill* fill = find_fill(op, c.fill); fill && c.fill != "normal")
    text += fmt::format("{}fill={} shows {}", text.empty() ? "" : "; ", c.fill, fill->shows);
  return text;
}

std::string summary(const Case& c, const OpShape& op) {
  std::string text = repro(c, op);
  text = text.substr(std::min(text.size(), c.op.size() + 1));
  const std::size_t after_dtype = text.find(' ');
  text = after_dtype == std::string::npos ? text : text.substr(after_dtype + 1);
  const std::size_t seed = text.rfind(" seed=");
  return seed == std::string::npos ? text : text.substr(0, seed);
}

Repro parse_repro(std::string_view text, std::span<const OpShape> ops) {
  const std::vector<std::string_view> parts = words(text);
  if (parts.size() < 2)
    throw BadInput(fmt::format("repro line '{}': expected 'op/kernel dtype axis=extent ... seed=number'.", text.substr(0, 80)));
  const std::size_t slash = std::min(parts[0].find('/'), parts[0].size());
  const std::string_view op_name = parts[0].substr(0, slash);
  const auto op = std::find_if(ops.begin(), ops.end(), [&](const OpShape& o) { return o.name == op_name; });
  if (op == ops.end()) {
    Names names;
    for (const OpShape& o : ops) names.push_back(o.name);
    throw BadInput(unknown("op", op_name, names));
  }
  Repro out;
  if (slash < parts[0].size()) {
    out.kernel = parts[0].substr(slash + 1);
    if (out.kernel.empty()) throw BadInput(fmt::format("'{}': no kernel after the slash.", parts[0].substr(0, 80)));
  }
  Case& c = out.what;
  c.op = op_name;
  const auto dtype =
      std::find_if(kActivationDTypes.begin(), kActivationDTypes.end(), [&](DType t) { return name(t) == parts[1]; });
  if (dtype == kActivationDTypes.end()) throw BadInput(unknown_dtype(parts[1]));
  c.dtype = *dtype;

  std::set<std::string_view> seen;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == parts[i].npos) throw BadInput(fmt::format("'{}': expected key=value.", parts[i].substr(0, 80)));
    const std::string_view key = parts[i].substr(0, equals);
    if (!seen.insert(key).second) throw BadInput(fmt::format("key '{}' is given twice.", key));
    const std::string_view value = parts[i].substr(equals + 1);
    if (key == "judge") out.judge = judge_version(value);
    else read_pair(c, *op, key, value);
  }
  for (const AxisUse& use : op->axes)
    if (!seen.contains(use.axis.name)) throw BadInput(fmt::format("{}: axis '{}' is missing.", op->name, use.axis.name));
  check(c, *op);
  return out;
}

bool within(const Dims& dims, std::span<const AxisUse> axes) {
  return std::ranges::all_of(axes, [&](const AxisUse& use) { return dims[use.axis] == use.within(dims[use.axis]); });
}

bool admits(const Case& c, const OpShape& op) {
  if (!within(c.dims, op.axes)) return false;
  if (c.dims[Axis::kv_heads] && c.dims[Axis::heads] % c.dims[Axis::kv_heads]) return false;
  const Fill* fill = find_fill(op, c.fill);
  const Layout* layout = find_layout(c.layout);
  if (fill && fill->applies && !fill->applies(c.dims, c.dtype)) return false;
  if (layout && !applies(*layout, c.dtype)) return false;
  if (op.shows_nothing && op.shows_nothing(c.fill, c.dtype)) return false;
  try {
    check(c, op);
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("{}: {}", c.source, e.what()));
  }
  return true;
}

}  // namespace assay
