// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/given_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "validate/base/error.hpp"

namespace assay {

namespace {

constexpr std::size_t kShortestWord = 3, kShortestChoice = 4;  // shorter ones are in too many names

// The words of a name, in lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty()) words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += word;
  return all;
}

bool is_near(std::string_view name, std::string_view known) {
  const std::vector<std::string> words = words_of(name);
  const std::string whole = joined(words), asked = joined(words_of(known));
  if (whole == asked) return true;
  for (const std::string& word : words)  // softmax_scale and scale, norm_eps and epsilon
    if (word.size() >= kShortestWord && asked.starts_with(word)) return true;
  return asked.size() > kShortestWord && edit_distance(whole.substr(0, 200), asked) <= asked.size() / 4;
}

bool has_word(std::string_view name, std::string_view choice) {
  const std::vector<std::string> words = words_of(name);
  return choice.size() >= kShortestChoice && std::find(words.begin(), words.end(), choice) != words.end();
}

bool is_ours(std::string_view key) {
  return key == kOpKey || key == kCaseKey || key == kDigestKey || key == kValuesKey || key == "format";
}

bool tells_layout(std::string_view key) { return key.ends_with(kStridesKey) || key.ends_with(kOffsetKey); }

}  // namespace

std::string_view meant(std::string_view name, const Op& op) {
  for (const TensorSpec& t : op.tensors)
    if (is_near(name, t.name)) return t.name;
  for (const Attribute& a : op.attributes) {
    if (is_near(name, a.name)) return a.name;
    for (const std::string_view choice : a.choices)
      if (has_word(name, choice)) return a.name;
  }
  return "";
}

std::vector<std::string> unused_in(const TensorFile& file, const Op& op, const std::vector<std::string>& ignored) {
  for (const std::string& name : ignored)
    if (is_ours(name) || tells_layout(name) || find_attribute(op.shape(), name) || tensor_index(op, name) != op.tensors.size())
      throw BadInput(fmt::format("--ignore: '{}' means something to {}", name, op.name));
  std::vector<std::string> unused;
  const auto look = [&](std::string_view kind, const std::string& name) {
    if (is_ours(name) || find_attribute(op.shape(), name)) return;
    if (std::find(ignored.begin(), ignored.end(), name) != ignored.end()) return;
    if (const std::string_view near = meant(name, op); !near.empty())
      throw BadInput(fmt::format("{} has no '{}'; is '{}' meant?  (--ignore {}: it means nothing)", op.name, name, near, name));
    unused.push_back(fmt::format("{} '{}'", kind, name));
  };
  for (const FileTensor& t : file.tensors)
    if (tensor_index(op, t.name) == op.tensors.size()) look("tensor", t.name);
  for (const auto& [key, text] : file.metadata) {
    if (tensor_index(op, key) != op.tensors.size() && !find_attribute(op.shape(), key))
      throw BadInput(fmt::format("'{}' is the text '{}', and a tensor was expected", key, text.substr(0, 40)));
    if (!tells_layout(key)) look("metadata", key);
  }
  return unused;
}

}  // namespace assay
