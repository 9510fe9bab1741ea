// SPDX-License-Identifier: Apache-2.0
// One pass of a decoder as a list of ops: the new tokens of each sequence go in, logits come out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "ops/core/tensor.hpp"
#include "reference/core/model.hpp"

namespace assay {

// Extents of a pass.  Each of `batch` sequences has up to `seq` new tokens; one with fewer has them last, behind padding.
struct PassShape {
  std::int64_t batch = 0, seq = 0;
  std::int64_t pages = 0, page_size = 0, max_pages = 0;
  bool all_logits = false;  // of every new token, not only of each sequence's last
  bool at_once = false;     // the sequences have no earlier positions, and equally many new ones: no need to read the cache
  std::int64_t tokens() const { return batch * seq; }
  bool operator==(const PassShape&) const = default;
};

// A tensor of the model.
struct ModelTensor {
  enum class Kind {
    weight,  // read alone: one of the decoder's, or several that follow each other
    table,   // such a weight, of which a step takes a row for each token
    cache,   // the keys or the values of a layer: pages that outlast the pass
    pass     // made by a step of a pass, or given to it
  };
  // Where a tensor lies that is a part of a larger one of the pass.
  struct Within {
    std::string whole;          // its name; empty: it is no part
    std::int64_t elements = 0;  // of the whole
    std::int64_t first = 0, row_stride = 0;
  };
  Kind kind = Kind::pass;
  std::string name;                      // of a weight its field in Decoder; in a layer with the layer before it: "3.wq"
  std::vector<const Tensor*> weights{};  // on the host
  Within within{};
};

// The op of a step, and the tensor of the model that stands for each of its tensors.  A tensor of the op that no part names is
// absent.
struct Step {
  std::int64_t layer = -1;  // -1: before the layers; their number: behind them
  std::string_view op;
  std::string name;  // of its first output: "q"
  std::vector<std::pair<std::string_view, ModelTensor>> parts{};
  std::vector<std::pair<std::string_view, double>> attributes{};
  Dims dims{};

  const ModelTensor* part(std::string_view tensor) const {
    for (const auto& [of_op, is] : parts)
      if (of_op == tensor) return &is;
    return nullptr;
  }
};

// Which ops a pass is made of.
enum class Ops {
  steps,  // one op for each step: norm, product, rope, append, attention, sum, activation
  fused,  // norm with sum, norm with product, product with activation, where an op does both
  joined  // as fused, but q, k and v are one product, and the sum behind a layer is done with the next layer's norm: fewer steps
};

// The steps, which point to the decoder's weights.
std::vector<Step> plan(const reference::Decoder&, const PassShape&, Ops);
// The steps of a pass of any shape, whose ops are chosen from: a pass of one token and a prompt that is read at once.
std::vector<Step> every_step(const reference::Decoder&, Ops);

// The rows of the head, and so the columns of the logits, with zeros behind the vocabulary: kernels copy rows of whole packs.
inline std::int64_t head_rows(const reference::Decoder& d) { return (d.vocab + 7) / 8 * 8; }

}  // namespace assay
