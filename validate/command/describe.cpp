// SPDX-License-Identifier: Apache-2.0
// describe: prints an op, or the words of a declaration of numerics, as text or as JSON, or the schema of records.
#include <fmt/format.h>
#include <unistd.h>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/list.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/problem/relations.hpp"
#include "validate/records/fields/kinds.hpp"
#include "validate/records/fields/schema_maker.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

// What a line has left for a text; in a file or a pipe any text fits.
std::size_t room(std::size_t taken) {
  if (!::isatty(STDOUT_FILENO)) return std::string::npos;
  return stdout_width() > taken + 8 ? stdout_width() - taken : 8;
}

// The choice with which an optional tensor is present: "bias", or "mask=a|b" if only some of its values bring the tensor.
std::string words_of(const Op& op, const TensorOptions& options) {
  std::string text(options.present_if);
  for (const Attribute& a : op.attributes)
    for (std::size_t k = 0; a.name == options.present_if && k < a.choices.size(); ++k)
      if (options.present_values >> k & 1) text += fmt::format("{}{}", text == options.present_if ? "=" : "|", a.choices[k]);
  return text;
}

std::vector<std::string> names_of(const std::vector<FormulaStep>& steps) {
  std::vector<std::string> names;
  for (const FormulaStep& step : steps) names.push_back(step.name);
  return names;
}

std::string_view role_of(const TensorSpec& t) {
  if (t.options.updated) return "updated";
  return t.role == Role::output ? "output" : t.role == Role::weight ? "weight" : "input";
}

// A relation of an op, and the choices on which it depends.
struct Held {
  Relation relation;
  std::string only_with, not_with;  // "what=sum, what=max"; empty: of all choices
};
// Those of the default attributes, and of each value of each choice.
std::vector<Held> held_relations(const Op& op) {
  std::vector<Held> held;
  for (const Relation& r : all_relations(op, {})) held.push_back({r, "", ""});
  const std::size_t by_default = held.size();
  for (const Attribute& a : op.attributes)
    for (std::size_t k = 1; k < a.choices.size(); ++k) {
      const std::string setting = fmt::format("{}={}", a.name, a.choices[k]);
      const auto note = [&](std::string& text) { text += (text.empty() ? "" : ", ") + setting; };
      const Case with{.attributes = {{std::string(a.name), static_cast<double>(k)}}};
      for (std::size_t i = 0; i < by_default; ++i)
        if (!find_relation(op, with, held[i].relation.name)) note(held[i].not_with);
      for (const Relation& r : all_relations(op, with)) {
        const auto at = std::ranges::find(held, r.name, [](const Held& h) { return h.relation.name; });
        if (at == held.end()) held.push_back({r, setting, ""});
        else if (!at->only_with.empty()) note(at->only_with);
      }
    }
  return held;
}

Json json_of(const Op& op) {
  Json j{{"op", op.name}, {"about", op.about}, {"axes", Json::array()}};
  for (const AxisUse& use : op.axes)
    j["axes"].push_back({{"axis", use.axis.name}, {"least", use.least}, {"most", use.most}, {"meaning", use.axis.meaning}});
  for (const TensorSpec& t : op.tensors) {
    Json tensor{{"tensor", t.name}, {"role", role_of(t)}, {"axes", Json::array()}};
    for (const Extent& e : t.axes) tensor["axes"].push_back(e.text());
    if (t.options.dtype) tensor["dtype"] = name(*t.options.dtype);
    if (!t.options.present_if.empty()) tensor["only_with"] = words_of(op, t.options);
    j["tensors"].push_back(tensor);
  }
  j["attributes"] = Json::array();
  j["kernels"] = Json::array();
  j["fills"] = Json::array();
  for (const Attribute& a : op.attributes)
    j["attributes"].push_back({{"attribute", a.name}, {"default", text_of(a, a.standard)}, {"choices", a.choices}});
  for (const Kernel& k : kernels())
    if (k.op == op.name)
      j["kernels"].push_back({{"kernel", k.name},
                              {"broken", k.broken},
                              {"dtypes", dtypes_text(k.dtypes)},
                              {"idea", idea_of(k.about)},
                              {"numerics", text_of(k.numerics)}});
  j["steps"] = names_of(op.formula.steps);
  j["ways"] = op.formula.ways;
  for (const Fill& f : op.hooks.fills) j["fills"].push_back({{"fill", f.name}, {"shows", f.shows}});
  for (const Fill& f : common_fills()) j["fills"].push_back({{"fill", f.name}, {"shows", f.shows}});
  j["relations"] = Json::array();
  for (const Held& h : held_relations(op)) {
    Json relation{{"relation", h.relation.name}, {"to_the_bit", h.relation.bits}, {"shows", h.relation.shows}};
    if (!h.only_with.empty()) relation["only_with"] = h.only_with;
    if (!h.not_with.empty()) relation["not_with"] = h.not_with;
    j["relations"].push_back(relation);
  }
  return j;
}

// The words of a declaration.
int describe_numerics(bool json) {
  Json words = Json::array();
  for (const NumericsWord& w : numerics_words()) {
    words.push_back({{"word", w.word}, {"meaning", w.meaning}, {"code", w.code}});
    if (!json) fmt::print("{}\n{}\n  {}\n", w.word, wrapped("  " + std::string(w.meaning), stdout_width()), w.code);
  }
  if (json) print_json({{"numerics", words}});
  return kAllPassed;
}

}  // namespace

int describe_command(const std::string& name_of_op, const std::string& set, bool json) {
  if (name_of_op == "numerics") return describe_numerics(json);
  if (name_of_op == "records") {
    fmt::print("{}", schema_text(schema_of_records()));
    return kAllPassed;
  }
  const Op& op = op_named(name_of_op);
  show_set(set);
  if (json) {
    print_json(json_of(op));
    return kAllPassed;
  }
  fmt::print("{}\n\n{}\n", op.name, op.about);
  fmt::print("axes\n");
  for (const AxisUse& use : op.axes) {
    const bool has_most = use.most < kMostExtent;
    const std::string range = has_most ? fmt::format("{} to {}", use.least, use.most) : fmt::format(">= {}", use.least);
    fmt::print("  {:<10} {}   {}\n", use.axis.name, range, use.axis.meaning);
  }
  fmt::print("\ntensors (f16, bf16 or f32)\n");
  for (const TensorSpec& t : op.tensors) {
    std::string shape;
    const std::string held = text_of(t.options.holds);
    for (const Extent& e : t.axes) shape += (shape.empty() ? "" : ", ") + e.text();
    fmt::print("  {:<10} [{}]{}{}{}\n", t.name, shape,
               t.options.updated        ? "   output, updated"
               : t.role == Role::output ? "   output"
               : t.role == Role::weight ? "   weight"
                                        : "",
               t.options.dtype ? fmt::format(", {}", name(*t.options.dtype)) : "",
               (held.empty() ? "" : ", " + held) +
                   (t.options.present_if.empty() ? "" : fmt::format(", only with {}", words_of(op, t.options))));
  }
  if (!op.attributes.empty()) fmt::print("\nattributes\n");
  for (const Attribute& a : op.attributes) {
    std::string words;
    for (const std::string_view w : a.choices) words += (words.empty() ? "" : " | ") + std::string(w);
    fmt::print("  {:<10} {} by default\n", a.name, words.empty() ? text_of(a, a.standard) : words + "; the first");
  }
  if (!op.formula.steps.empty())
    fmt::print("\nsteps that kernels may store (stores=)\n  {}\n", fmt::join(names_of(op.formula.steps), ", "));
  if (!op.formula.ways.empty()) fmt::print("\nother ways to compute (ways=)\n  {}\n", fmt::join(op.formula.ways, ", "));
  fmt::print("\nkernels\n");
  for (const Kernel& k : kernels()) {
    if (k.op != op.name) continue;
    fmt::print("  {:<20} {:<12}  {}\n", shown_name(k), dtypes_text(k.dtypes), cut(idea_of(k.about), room(37)));
    if (!k.broken) fmt::print("  {}\n", wrapped("  " + text_of(k.numerics), stdout_width()));
  }
  fmt::print("\nrelations that the formula keeps, and what each shows\n");
  for (const Held& h : held_relations(op)) {
    const std::string with = !h.only_with.empty()  ? "; only with " + h.only_with
                             : !h.not_with.empty() ? "; not with " + h.not_with
                                                   : "";
    std::string how = h.relation.bits ? "to the bit" : "within the bounds";
    if (!h.relation.within_bounds.empty())
      how += fmt::format(fmt::runtime(h.relation.move == Relation::Move::first_part ? ", without {}" : ", {} within the bounds"),
                         fmt::join(h.relation.within_bounds, " and "));
    how += with;
    fmt::print("  {:<24} {}\n", h.relation.name, cut(how + ": " + h.relation.shows, room(27)));
  }
  fmt::print("\nfills, and what each shows\n");
  for (const Fill& f : op.hooks.fills) fmt::print("  {:<24} {}\n", f.name, cut(std::string(f.shows), room(27)));
  for (const Fill& f : common_fills()) fmt::print("  {:<24} {}\n", f.name, cut(std::string(f.shows), room(27)));
  return kAllPassed;
}

}  // namespace assay
