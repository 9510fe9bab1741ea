// SPDX-License-Identifier: Apache-2.0
#include "validate/opfile/op_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <set>

#include "validate/base/child.hpp"
#include "validate/cases/json_node.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

namespace {

// The files in use, for the processes that this one starts, with colons between.
constexpr const char* kVariable = "ASSAY_OP_FILES";
constexpr std::size_t kMostLines = 1000;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

using Node = JsonNode<nlohmann::ordered_json>;

class OpReader {
 public:
  OpReader(OwnOp& op, const Node& root) : op_(op), root_(root) {}

  void read() {
    root_.object({"op", "about", "axes", "inputs", "weights", "outputs", "attributes", "legal", "formula"});
    op_.name = op_.keep(word(root_.at("op"), root_.at("op").text(), "an op"));
    op_.about = op_.keep(root_.has("about") ? root_.at("about").text() : std::string());
    read_attributes();
    tensors("inputs", Role::input);
    tensors("weights", Role::weight);
    tensors("outputs", Role::output);
    if (std::ranges::none_of(op_.tensors, [](const TensorSpec& t) { return t.role == Role::output; }))
      root_.fail("an op has at least one output, under 'outputs'.");
    read_axes();
    check_contents_axes();
    read_formula();
  }

 private:
  static std::string word(const Node& n, std::string_view text, std::string_view what) {
    if (!is_line_key(text))
      n.fail(fmt::format("the name of {} is of small letters, digits and _, and begins with a letter.", what));
    return std::string(text);
  }

  Axis axis(const Node& n, std::string_view name) {
    if (name == Axis::one.name) return Axis::one;
    word(n, name, "an axis");
    if (const auto at = std::ranges::find(kAxes, name, &Axis::name); at != kAxes.end()) return *at;
    if (const auto at = std::ranges::find(op_.axes, name, [](const AxisUse& u) { return u.axis.name; }); at != op_.axes.end())
      return at->axis;
    return Axis{op_.keep(std::string(name))};
  }

  static std::int64_t whole(const Node& n, std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostExtent)
      n.fail(fmt::format("'{}' is no whole number above 0.", text));
    return value;
  }

  // "cols", "cols/128", "batch+1", "1"; an axis is the op's from where it stands first.
  Extent extent(const Node& n, std::string_view text) {
    std::int64_t divisor = 1, more = 0;
    if (const std::size_t plus = text.find('+'); plus != text.npos) {
      more = whole(n, text.substr(plus + 1));
      text = text.substr(0, plus);
    }
    if (const std::size_t slash = text.find('/'); slash != text.npos) {
      divisor = whole(n, text.substr(slash + 1));
      text = text.substr(0, slash);
    }
    const Axis a = axis(n, text);
    if (a != Axis::one && std::ranges::find(op_.axes, a, &AxisUse::axis) == op_.axes.end()) op_.axes.push_back({a});
    return {a, divisor, more};
  }

  // "indices_of(vocab)", "between(0, 1)" and the other words of ops/core/contents.hpp.
  Contents contents(const Node& n) {
    const std::string text = n.text();
    const std::size_t open = std::min(text.find('('), text.size());
    const std::string kind = text.substr(0, open);
    std::vector<std::string_view> given;
    if (open < text.size()) {
      if (!text.ends_with(')')) n.fail("')' is missing at its end.");
      given = split(std::string_view(text).substr(open + 1, text.size() - open - 2), ',');
      for (std::string_view& each : given) each = trimmed(each);
    }
    const auto number = [&](std::string_view of) {
      if (of == "inf" || of == "-inf") return of == "inf" ? kInfinity : -kInfinity;
      double value = 0;
      const auto [end, error] = std::from_chars(of.data(), of.data() + of.size(), value);
      if (error != std::errc() || end != of.data() + of.size()) n.fail(fmt::format("'{}' is no number.", of));
      return value;
    };
    const auto is = [&](std::string_view name, std::size_t count) { return kind == name && given.size() == count; };
    if (is("between", 2)) return between(number(given[0]), number(given[1]));
    if (is("indices_of", 1)) return indices_of(axis(n, given[0]));
    if (is("positions_of_tokens", 0)) return positions_of_tokens();
    if (is("starts_of", 1)) return starts_of(axis(n, given[0]));
    if (is("lengths_in_pages", 0)) return lengths_in_pages();
    if (is("pages_by", 1)) return pages_by(op_.keep(std::string(given[0])));
    n.fail(
        "expected between(LEAST, MOST), indices_of(AXIS), positions_of_tokens(), starts_of(AXIS), lengths_in_pages() or "
        "pages_by(TENSOR).");
  }

  void tensors(std::string_view key, Role role) {
    if (!root_.has(key)) return;
    root_.at(key).each_key([&](const std::string& name, const Node& n) {
      const bool is_text = n.json.is_string();
      if (!is_text) n.object({"axes", "dtype", "holds", "present_if"});
      TensorSpec t{.name = op_.keep(word(n, name, "a tensor")), .role = role, .axes = {}};
      take_name(n, t.name);
      const Node axes = is_text ? n : n.at("axes");
      const std::string shape = axes.text();
      for (const std::string_view each : split(shape, ' ')) t.axes.push_back(extent(axes, each));
      if (t.axes.size() > kMaxRank) axes.fail(fmt::format("a tensor has at most {} axes.", kMaxRank));
      if (!is_text) read_options(n, t);
      op_.tensors.push_back(std::move(t));
    });
  }

  void read_options(const Node& n, TensorSpec& t) {
    if (n.has("dtype")) {
      const Node dtype = n.at("dtype");
      t.options.dtype = parse_dtype(dtype.text());
      Names known;
      for (const DTypeInfo& each : kDTypes) known.push_back(each.name);
      if (!t.options.dtype) dtype.fail(unknown("dtype", dtype.text(), known));
    }
    if (n.has("holds")) {
      if (t.role == Role::output) n.at("holds").fail("only an input holds what the judge draws.");
      t.options.holds = contents(n.at("holds"));
    }
    if (!n.has("present_if")) return;
    const Node choice = n.at("present_if");
    const auto at = std::ranges::find(op_.attributes, choice.text(), &Attribute::name);
    if (at == op_.attributes.end() || at->choices.empty()) choice.fail(fmt::format("the op has no choice '{}'.", choice.text()));
    t.options.present_if = at->name;
  }

  // Places and starts are those of an axis that some tensor has.
  void check_contents_axes() const {
    for (const TensorSpec& t : op_.tensors) {
      const Contents& holds = t.options.holds;
      const bool has_axis = holds.kind == Contents::Kind::indices || holds.kind == Contents::Kind::starts;
      if (has_axis && std::ranges::find(op_.axes, holds.axis, &AxisUse::axis) == op_.axes.end())
        root_.at(t.role == Role::weight ? "weights" : "inputs")
            .at(t.name)
            .at("holds")
            .fail(fmt::format("no tensor has the axis '{}'.", holds.axis.name));
    }
  }

  void take_name(const Node& n, std::string_view name) {
    if (!names_.insert(name).second) n.fail(fmt::format("there are two things of the name '{}'.", name));
  }

  void read_attributes() {
    if (!root_.has("attributes")) return;
    root_.at("attributes").each_key([&](const std::string& name, const Node& n) {
      Attribute a{.name = op_.keep(word(n, name, "an attribute"))};
      take_name(n, a.name);
      if (!n.json.is_array()) a.standard = n.number();
      else
        for (const Node& choice : n.list(32)) {
          const std::string text = word(choice, choice.text(), "a choice");
          if (std::ranges::find(a.choices, text) != a.choices.end()) choice.fail("it stands there twice.");
          a.choices.push_back(op_.keep(text));
        }
      op_.attributes.push_back(std::move(a));
    });
  }

  // Extents of the axes that tensors have.
  void read_axes() {
    if (!root_.has("axes")) return;
    Names known;
    for (const AxisUse& use : op_.axes) known.push_back(use.axis.name);
    root_.at("axes").each_key([&](const std::string& name, const Node& n) {
      const auto at = std::ranges::find(known, std::string_view(name));
      if (at == known.end()) n.fail(fmt::format("no tensor has it; {}", unknown("axis", name, known)));
      AxisUse& use = op_.axes[static_cast<std::size_t>(at - known.begin())];
      const std::vector<std::int64_t> ends = n.json.is_array() ? n.integers(0) : std::vector{n.integer(0), kMostExtent};
      if (ends.size() != 2 || ends[0] > ends[1]) n.fail("expected the least extent, or the least and the largest, like [4, 4].");
      use.least = ends[0];
      use.most = ends[1];
    });
  }

  void read_formula() {
    formula::TextNames names;
    for (const TensorSpec& t : op_.tensors) (t.role == Role::output ? names.outputs : names.inputs).push_back(t.name);
    for (const Attribute& a : op_.attributes) {
      names.attributes.push_back(a.name);
      std::ranges::copy(a.choices, std::back_inserter(names.words));
    }
    std::vector<std::string> lines;
    const Node formula = root_.at("formula");
    for (const Node& line : formula.list(kMostLines)) lines.push_back(line.text());
    const auto told_at = [&](const Node& n, auto&& act) {
      try {
        act();
      } catch (const FormulaError& e) {
        n.fail(e.what());
      }
    };
    told_at(formula, [&] { op_.formula.emplace(lines, names); });
    if (root_.has("legal"))
      for (const Node& condition : root_.at("legal").list(kMostLines))
        told_at(condition, [&] { op_.legal.emplace_back(condition.text(), names); });
    for (const std::string_view attribute : names.attributes) {
      const auto uses = [&](const auto& text) { return text.uses(attribute); };
      const auto brings = [&](const TensorSpec& t) { return t.options.present_if == attribute; };
      if (!uses(*op_.formula) && std::ranges::none_of(op_.legal, uses) && std::ranges::none_of(op_.tensors, brings))
        root_.at("attributes").at(attribute).fail("neither the formula nor a condition uses it.");
    }
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  OwnOp& op_;
  const Node& root_;
  std::set<std::string_view> names_;  // of tensors and attributes
};

std::vector<std::string> files_in_use() {
  const char* const listed = std::getenv(kVariable);
  std::vector<std::string> files;
  for (const std::string_view path : split(listed ? listed : "", ':')) files.emplace_back(path);
  return files;
}

std::deque<OwnOp>& kept_ops() {
  static std::deque<OwnOp> all;
  return all;
}

std::vector<Op> ops_of_files() {
  std::vector<Op> all;
  for (const std::string& path : files_in_use()) all.push_back(make_op(kept_ops().emplace_back(read_op_file(path))));
  return all;
}

// The files of the ops that a Python file makes (python/assay/op_file.py).
std::vector<std::string> files_of_python(const std::string& path) {
  std::string said;
  const int code = output_of({"/bin/sh", "-c", "exec python3 -m assay.op_file \"$0\"", path}, said);
  std::vector<std::string> lines;
  for (const std::string_view line : split(said, '\n')) lines.emplace_back(line);
  if (code != 0)
    throw BadInput(fmt::format("{}: python3 -m assay.op_file cannot read it: {}", path,
                               lines.empty() ? "it does not say why" : plain(lines.back())));
  return lines;
}

const bool known = [] {
  OpsOfFiles::read = ops_of_files;
  return true;
}();

}  // namespace

OwnOp read_op_file(const std::string& path) {
  OwnOp op{.path = path};
  const auto json = parse_json<nlohmann::ordered_json>(json_text(path), path);
  const Node root{json, {path, ""}};
  OpReader(op, root).read();
  return op;
}

void use_op_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path.find(':') != path.npos) throw BadInput(fmt::format("{}: the name of an op's file has no colon", path));
    if (path.ends_with(".py")) std::ranges::copy(files_of_python(path), std::back_inserter(files));
    else files.push_back(std::filesystem::absolute(path).string());
  }
  ::setenv(kVariable, fmt::format("{}", fmt::join(files, ":")).c_str(), 1);
  ops();  // so that a mistake is told whether or not the command looks at ops
}

void require_kernels_of_files(const std::vector<std::string>& chosen) {
  for (const OwnOp& own : kept_ops())
    if ((chosen.empty() || std::ranges::find(chosen, own.name) != chosen.end()) && kernel_names(own.name).empty())
      throw BadInput(
          fmt::format("no kernel of {}, the op of {}, is given  (--plugin, --worker, --ptx or --cu)", own.name, own.path));
}

std::string with_op_files(const std::string& flags) {
  std::string text;
  for (const std::string& file : files_in_use()) text += flag_text("--op-file", file) + " ";
  return text + flags;
}

}  // namespace assay
