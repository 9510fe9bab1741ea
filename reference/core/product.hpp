// SPDX-License-Identifier: Apache-2.0
// Matrix products in f64 with the magnitudes that error bounds need, in blocks that threads share.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "ops/core/rows.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"

namespace assay::reference {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Rows [first, first + count) of a matrix [rows, inner].
inline Matrix load_block(const Tensor& t, std::int64_t first, std::int64_t count) {
  const std::int64_t inner = t.shape[t.rank - 1];
  Matrix m(count, inner);
  for (std::int64_t r = 0; r < count; ++r) m.row(r) = load(t, (first + r) * inner, inner).matrix();
  return m;
}

// c = x w^T with sum |x w| and sum (x w)^2 of each element.
struct Product {
  Matrix value, sum_abs, sum_sq;

  // x times rows [first, first + count) of a weight [rows, inner].  The weight is read once, in tiles of kInner columns that stay
  // in cache.  each(column, |w|) gets the first column of each tile and its absolute values, for sums over the weight alone.
  template <class Each>
  Product(const Matrix& x, const Tensor& weight, std::int64_t first, std::int64_t count, Each&& each)
      : value(Matrix::Zero(x.rows(), count)), sum_abs(value), sum_sq(value) {
    constexpr std::int64_t kInner = 256;
    const std::int64_t inner = x.cols();
    Matrix w, part;
    for (std::int64_t column = 0; column < inner; column += kInner) {
      const std::int64_t n = std::min(kInner, inner - column);
      w.resize(count, n);
      for (std::int64_t r = 0; r < count; ++r) w.row(r) = load(weight, (first + r) * inner + column, n).matrix();
      part = x.middleCols(column, n);
      value.noalias() += part * w.transpose();
      w = w.cwiseAbs();
      part = part.cwiseAbs();
      each(column, w);
      sum_abs.noalias() += part * w.transpose();
      w = w.cwiseAbs2();
      part = part.cwiseAbs2();
      sum_sq.noalias() += part * w.transpose();
    }
  }
  Product(const Matrix& x, const Tensor& weight, std::int64_t first, std::int64_t count)
      : Product(x, weight, first, count, [](std::int64_t, const Matrix&) {}) {}

  Product(const Matrix& x, const Matrix& w) {
    value.noalias() = x * w.transpose();
    sum_abs.noalias() = x.cwiseAbs() * w.cwiseAbs().transpose();
    sum_sq.noalias() = x.cwiseAbs2() * w.cwiseAbs2().transpose();
  }
};

inline constexpr std::int64_t kProductRows = 128, kProductOut = 256;  // of a block

// Those of the largest block.
inline double product_rows(const Rows& rows) { return static_cast<double>(std::min(kProductRows, rows.count())); }
inline double product_out(std::int64_t out) { return static_cast<double>(std::min(kProductOut, out)); }

inline double threads_on_products(const Rows& rows, std::int64_t out) {
  const auto blocks = [](std::int64_t n, std::int64_t of) { return (n + of - 1) / of; };
  return static_cast<double>(threads_on(blocks(rows.count(), kProductRows) * blocks(out, kProductOut)));
}
// Bytes of for_product_blocks() where each thread makes `products` of its block: the rows, a tile of them and one of the weight,
// and three sums of each product.
inline double scratch_of_products(const Rows& rows, std::int64_t hidden, std::int64_t out, int products) {
  const double block = product_rows(rows), part = product_out(out);
  return bytes_of(threads_on_products(rows, out) *
                  (block * static_cast<double>(hidden) + (block + part) * 256 + products * 3 * block * part));
}

// Calls use(k, first_out, count, x_block) in parallel for each block of rows and of output features; x_block holds the rows
// rows[k], rows[k + 1], ...  load_x(row, into) fills one row of a block with `hidden` values.
template <class LoadX, class Use>
void for_product_blocks(const Rows& rows, std::int64_t hidden, std::int64_t out, LoadX&& load_x, Use&& use) {
  constexpr std::int64_t kRows = kProductRows, kOut = kProductOut;
  const std::int64_t row_blocks = (rows.count() + kRows - 1) / kRows, out_blocks = (out + kOut - 1) / kOut;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t block = 0; block < row_blocks * out_blocks; ++block) {
    const std::int64_t k = block / out_blocks * kRows, first_out = block % out_blocks * kOut;
    Matrix x(std::min(kRows, rows.count() - k), hidden);
    for (std::int64_t r = 0; r < x.rows(); ++r) load_x(rows[k + r], x.row(r));
    use(k, first_out, std::min(kOut, out - first_out), x);
  }
}

}  // namespace assay::reference
