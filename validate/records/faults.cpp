// SPDX-License-Identifier: Apache-2.0
#include "validate/records/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

namespace assay {

namespace {

constexpr std::string_view kHead =
    "# The broken kernels of this op, each with a case that shows its fault.\n"
    "#   [KERNEL]        the file broken/KERNEL.cu, or an edit of a right kernel:\n"
    "#   fault: TEXT     what is wrong; then `caught by:`, `kernel:` and the lines of the edit, as cmake/faults.py says\n"
    "#   after: LINE     where the fault needs earlier calls: a case that the same process judges before\n"
    "#   witness: LINE   the case, as `validate replay` takes it\n"
    "#   tier: T1        the tier that fails it (docs/judging.md)\n"
    "# Written by `validate selfcheck --suite edges --write-witnesses cuda`; `--witnesses cuda` judges them.\n";

Tier tier_named(std::string_view text) {
  const auto at = std::find(kTiers.begin(), kTiers.end(), text);
  if (at == kTiers.end()) throw BadInput(unknown("tier", text, Names(kTiers.begin(), kTiers.end())));
  return static_cast<Tier>(at - kTiers.begin());
}

// The value of a line "KEY: VALUE"; none if the line has another key.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return line.substr(key.size());
}

// Whether cmake/faults.py reads this line.
bool is_of_edit(std::string_view line) {
  constexpr std::array<std::string_view, 7> kBegins = {"fault: ", "caught by: ", "kernel: ", "in: ", "-", "+", " "};
  return std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) { return line.starts_with(begin); });
}

// Collects the faults line by line.
class Reader {
 public:
  explicit Reader(bool whole) : whole_(whole) {}
  void take(std::string_view line) {
    if (line.empty()) ++blank_;  // it parts the places that an edit changes
    if (line.empty() || line.starts_with('#')) return;
    const std::size_t blank = std::exchange(blank_, 0);
    if (line.starts_with('[') && line.ends_with(']')) return begin(std::string(line.substr(1, line.size() - 2)));
    if (faults_.empty()) throw BadInput("a line [KERNEL] was expected");
    Fault& fault = faults_.back();
    if (const auto witness = value_of(line, "witness: ")) {
      fault.witness = *witness;
    } else if (const auto after = value_of(line, "after: ")) {
      fault.after = *after;
    } else if (const auto tier = value_of(line, "tier: ")) {
      fault.tier = tier_named(*tier);
      has_tier_ = true;
    } else if (is_of_edit(line)) {
      if (!fault.edit.empty()) fault.edit.append(blank, '\n');
      fault.edit += fmt::format("{}\n", line);
    } else {
      throw BadInput(fmt::format("'{}': 'witness: LINE', 'tier: TIER' or a line of an edit was expected", line.substr(0, 80)));
    }
  }
  std::vector<Fault> finish() {
    end();
    return std::move(faults_);
  }

 private:
  void begin(std::string kernel) {
    end();
    if (!names_.insert(kernel).second) throw BadInput(fmt::format("'{}' stands here twice", kernel));
    faults_.push_back({.kernel = std::move(kernel), .witness = {}});
    has_tier_ = false;
  }
  void end() const {
    if (whole_ && !faults_.empty() && (faults_.back().witness.empty() || !has_tier_))
      throw BadInput(fmt::format("'{}' lacks its witness or its tier", faults_.back().kernel));
  }
  bool whole_;  // each fault has a witness and its tier
  std::vector<Fault> faults_;
  std::set<std::string> names_;
  std::size_t blank_ = 0;  // lines before this one
  bool has_tier_ = false;  // the last one
};

std::vector<Fault> faults_of(const std::string& path, const std::string& text, bool whole) {
  Reader reader(whole);
  std::size_t number = 1;
  try {
    for (std::size_t start = 0; start < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      reader.take(std::string_view(text).substr(start, end - start));
      start = end + 1;
    }
    return reader.finish();
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("{}:{}: {}", path, number, e.what()));
  }
}

}  // namespace

std::string faults_path(const std::string& folder, const std::string& op) { return fmt::format("{}/{}/faults.txt", folder, op); }

std::vector<Fault> read_faults(const std::string& path) {
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) throw BadInput(fmt::format("'{}': {}", path, why));
  return faults_of(path, *text, true);
}

std::vector<Fault> read_edits(const std::string& path) {
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) return {};
  return faults_of(path, *text, false);
}

std::string faults_text(std::vector<Fault> faults) {
  std::sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) { return a.kernel < b.kernel; });
  std::string text(kHead);
  for (const Fault& f : faults) {
    text += fmt::format("\n[{}]\n{}", f.kernel, f.edit);
    if (f.witness.empty()) continue;
    if (!f.after.empty()) text += fmt::format("after: {}\n", f.after);
    text += fmt::format("witness: {}\ntier: {}\n", f.witness, name(f.tier));
  }
  text.pop_back();  // write_whole() ends the last line
  return text;
}

}  // namespace assay
