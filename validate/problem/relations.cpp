// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/relations.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "validate/problem/search/relation_search.hpp"
#include "validate/problem/search/solved_case.hpp"
#include "validate/values/layout.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

using Move = Relation::Move;

constexpr std::uint64_t kOneIn = 4;                          // one case in four tries a relation
constexpr std::int64_t kMostShared = std::int64_t{1} << 24;  // most elements of such a case

// A first part needs at least two rows: with one row strides are irrelevant, so a kernel may take another path.
bool enough(const Op& op, const Relation& r, const Case& c) {
  const std::int64_t n = c.dims[r.axis];
  if (r.move == Move::first_part) return n >= 3 && within(related_case(r, c).dims, op.axes);
  return r.move != Move::permuted || n >= 2;
}

// Note: in layout `alone`, extents decide which tensor is not aligned, and so which accesses a kernel makes.
bool changes_extents(const Relation& r) { return r.move == Move::first_part || r.move == Move::regrouped; }

}  // namespace

std::span<const Relation> all_relations(const Op& op, const Case& c) {
  using Key = std::pair<std::string_view, std::vector<Attributes>>;
  static std::mutex one_at_a_time;
  static std::map<Key, std::vector<Relation>> known;
  const std::lock_guard lock(one_at_a_time);
  const Key key{op.name, small_numbers(op, c)};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  std::vector<Relation> relations = op.hooks.relations;
  for (Relation& r : search_relations(op, c))
    if (std::ranges::find(op.hooks.relations, r.name, &Relation::name) == op.hooks.relations.end())
      relations.push_back(std::move(r));
  return known.emplace(key, std::move(relations)).first->second;
}

const Relation* find_relation(const Op& op, const Case& c, std::string_view name) {
  const std::span<const Relation> all = all_relations(op, c);
  const auto at = std::ranges::find(all, name, &Relation::name);
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> relations_of(const Op& op, const Case& c, Relations which) {
  std::vector<std::string> names;
  // Note: a related problem is made in memory without holes.
  const Layout* layout = find_layout(c.layout);
  if (which == Relations::none || elements(c, op.shape()) == 0 || (layout && layout->far)) return names;
  const std::uint64_t bits = random::mix(c.seed ^ random::hash(op.name));
  if (which == Relations::share && (bits % kOneIn != 0 || elements(c, op.shape()) > kMostShared)) return names;
  for (const Relation& r : all_relations(op, c))
    if (enough(op, r, c) && (!r.applies || r.applies(c)) && !(layout && layout->alone && changes_extents(r)))
      names.push_back(r.name);
  if (which == Relations::all || names.empty()) return names;
  return {names[bits / kOneIn % names.size()]};
}

}  // namespace assay
