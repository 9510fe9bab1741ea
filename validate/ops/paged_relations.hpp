// SPDX-License-Identifier: Apache-2.0
// A relation of ops over a paged cache: results do not depend on the page size.
#pragma once

#include "validate/problem/op.hpp"

namespace assay::paged_relations {

// Splits page p into pages 2p and 2p + 1 of half the size, at the same memory; invalid table entries are kept.
inline void halve_pages(Case& c) {
  c.dims[Axis::pages] *= 2;
  c.dims[Axis::page_size] /= 2;
  c.dims[Axis::max_pages] *= 2;
}
inline double half_page(std::string_view tensor, const Dims& from, std::int64_t i, double v) {
  const bool page = tensor == "page_table" && v >= 0 && v < static_cast<double>(from[Axis::pages]);
  return page ? 2 * v + static_cast<double>(i % 2) : v;
}
inline const Relation kPagesHalved{
    .name = "pages_halved",
    .shows = "a result that depends on the size of pages, a position split wrongly into page and slot",
    .move = Relation::Move::regrouped,
    .integer = half_page,
    .change = halve_pages,
    .applies = [](const Case& c) { return c.dims[Axis::page_size] % 2 == 0; }};

}  // namespace assay::paged_relations
