// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "validate/base/error.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/problem/numerics/old_words.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

Numerics read_words(std::string_view text) {
  Numerics n;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size()), equals = std::min(text.find('='), end);
    const std::string_view word = text.substr(0, equals),
                           value = equals < end ? text.substr(equals + 1, end - equals - 1) : std::string_view(kYes);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (end == 0) continue;  // several spaces
    const auto known = std::ranges::find(numerics_words(), word, &NumericsWord::word);
    if (known == numerics_words().end()) {
      Names names;
      for (const NumericsWord& w : numerics_words()) names.push_back(w.word);
      throw BadInput(unknown("word of numerics", word, names) + "  (validate describe numerics)");
    }
    if (!seen.insert(word).second) throw BadInput(fmt::format("the word '{}' of numerics is given twice", word));
    if (!known->read(value, n))
      throw BadInput(
          fmt::format("'{}' is no value of the word '{}' of numerics  (validate describe numerics)", value.substr(0, 80), word));
  }
  return n;
}

}  // namespace

Numerics numerics_from(std::string_view text, std::string_view op) {
  const Numerics n = read_words(with_new_words(text, op));
  const Op* const known = find_op(op);
  if (const Legality has = known ? has_names(*known, n) : Legality::yes(); !has) throw BadInput(has.why);
  return n;
}

}  // namespace assay
