// SPDX-License-Identifier: Apache-2.0
// An op that a file describes: its contract as data and its formula as text.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/formula/text.hpp"
#include "validate/problem/op.hpp"

namespace assay {

struct OwnOp {
  std::string path;
  std::deque<std::string> texts{};  // to which the views of what follows refer
  std::string_view name{}, about{};
  std::vector<AxisUse> axes{};
  std::vector<TensorSpec> tensors{};
  std::vector<Attribute> attributes{};
  std::vector<formula::TextCondition> legal{};
  std::optional<formula::TextFormula> formula{};

  std::string_view keep(std::string word) { return texts.emplace_back(std::move(word)); }
};

// The op as the judge sees it.  `own` must outlive it.  Throws BadInput if it cannot be one.
Op make_op(const OwnOp& own);

}  // namespace assay
