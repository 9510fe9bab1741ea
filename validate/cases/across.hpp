// SPDX-License-Identifier: Apache-2.0
// Finds a property that all failing cases of a kernel have and no passing one has: a fill, a layout, a dtype, an attribute, or
// an extent (its value, a range, or whether it is a multiple of a power of two).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "validate/cases/case.hpp"

namespace assay {

class Across {
 public:
  // Adds a case of a kernel that passed, or one that failed for that reason.
  void add_passed(const Case& c, const OpShape& op, const std::string& kernel) { of_[{c.op, kernel}].passed.add(c, op); }
  void add_failed(const Case& c, const OpShape& op, const std::string& kernel, const std::string& reason) {
    of_[{c.op, kernel}].failed[reason].add(c, op);
  }
  std::int64_t failed(const std::string& op, const std::string& kernel, const std::string& reason) const;
  // "all 12 failing cases have layout=padded; none of the 146 passing ones do"; empty where nothing separates them, or where
  // there are fewer than kLeast of either.
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
  struct Kernel {
    Counts passed;
    std::map<std::string, Counts> failed;
  };
  std::map<std::pair<std::string, std::string>, Kernel> of_;  // by op and kernel
};

}  // namespace assay
