// SPDX-License-Identifier: Apache-2.0
// Finds a property that all failing cases of a kernel have and no passing one has: a fill, a layout, a dtype, an attribute, or
// an extent (its value, a range, whether it is a multiple of a power of two or one itself, how it compares with another's).
// Where there is none, a property that all failing cases have and not all passing ones, or one with which every case fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validate/cases/case.hpp"

namespace assay {

class Across {
 public:
  // Adds a case of a kernel that passed, or one that failed for that reason.
  void add_passed(const Case& c, const OpShape& op, const std::string& kernel) { of_[{c.op, kernel}].passed.add(c, op); }
  void add_failed(const Case& c, const OpShape& op, const std::string& kernel, const std::string& reason,
                  const std::string& reads_like = {}) {
    Kernel& k = of_[{c.op, kernel}];
    k.failed[reason].add(c, op);
    if (!reads_like.empty()) ++k.readings[reason][reads_like.substr(0, reads_like.find("; "))];
  }
  // What at least half of the failing cases read like, with their number: "`bias` left out (taken as 0) (31 of 52 cases)".  Empty
  // if fewer agree, or only one.
  std::string reading(const std::string& op, const std::string& kernel, const std::string& reason) const;
  std::int64_t failed(const std::string& op, const std::string& kernel, const std::string& reason) const;
  // "all 12 failing cases have layout=padded; none of the 146 passing ones do"; "all 12 failing cases have dtype other than f32,
  // as do 40 of the 90 passing ones"; empty where nothing tells them apart, or where there are fewer than kLeast of either.
  std::string sentence(const std::string& op, const std::string& kernel, const std::string& reason) const;

  static constexpr std::int64_t kLeast = 3;

 private:
  // How many of some cases have each property.  A property has a rank: of several that separate, that of least rank is told.
  struct Counts {
    std::int64_t cases = 0;
    std::map<std::pair<int, std::string>, std::int64_t> having;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> range;  // of an axis, the least and the greatest
    void add(const Case& c, const OpShape& op);
  };
  struct Property {
    int rank;
    std::string text;
    std::int64_t failed, passed;  // cases that have it
  };
  static std::vector<Property> properties(const Counts& failed, const Counts& passed);  // by rank
  struct Kernel {
    Counts passed;
    std::map<std::string, Counts> failed;
    std::map<std::string, std::map<std::string, std::int64_t>> readings;  // by reason, cases by what they read like
  };
  std::map<std::pair<std::string, std::string>, Kernel> of_;  // by op and kernel
};

}  // namespace assay
