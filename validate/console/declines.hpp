// SPDX-License-Identifier: Apache-2.0
// Which cases kernels do not take, by their own word.  A pass says nothing of these, so it is told how many they are, and why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validate/records/record.hpp"

namespace assay {

class Declines {
 public:
  void add(const Record&);
  // Whether a kernel took less than half of the cases in the dtypes that it declares, or none of a dtype or a layout.
  bool any() const;
  // A line for each such kernel, or one that names them if there are many, then one of the reasons that no other line tells:
  //   "softmax/mine takes 8 of 41 cases (20 %), none with layout=padded (12); not: 30 'cols must be 1', 3 'rows must be even'"
  //   "16 unsupported as declared: 16 'declares finite inputs'"
  std::vector<std::string> lines() const;

 private:
  struct Count {
    std::int64_t cases = 0, declined = 0;
    std::map<std::string, std::int64_t> reasons{};
    void add(const Record&, bool declined);
    std::string text(std::size_t most = 3) const;  // the most frequent reasons
    void add(const Count&);
  };
  struct OfKernel {
    Count all;
    std::map<std::string, Count> classes;  // "dtype=f16", "layout=padded"
    std::string none() const;              // the classes of which it took no case: "layout=padded (12), layout=far (3)"
    bool few() const;
  };
  std::map<std::pair<std::string, std::string>, OfKernel> kernels_;  // by op and name
  Count undeclared_;                                                 // cases in a dtype that the kernel does not declare
};

}  // namespace assay
