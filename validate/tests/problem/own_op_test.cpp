// SPDX-License-Identifier: Apache-2.0
// The hooks of an op from elsewhere: relations by name, and the axes that its sums run over.
#include "catch_shim.hpp"
#include "validate/ops/own.hpp"

using namespace assay;

namespace {

struct Bare {
  static constexpr AxisUse axes[] = {{Axis::rows, 0}};
};
struct RowSums {
  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};
  static constexpr Axis summed[] = {Axis::cols};
  static constexpr std::string_view relations[] = {"rows_permuted", "first_rows", "cols_permuted"};
};
struct HalfASum : RowSums {
  static constexpr std::string_view relations[] = {"first_cols"};
};
struct Elsewhere : RowSums {
  static constexpr std::string_view relations[] = {"rows_permuted", "tokens_permuted"};
};

}  // namespace

TEST_CASE("an op from elsewhere: relations by name") {
  CHECK(hooks_of_own<Bare>().relations.empty());
  CHECK(hooks_of_own<Bare>().summed.empty());
  const Hooks hooks = hooks_of_own<RowSums>();
  REQUIRE(hooks.summed.size() == 1);
  CHECK(hooks.summed[0].axis == Axis::cols);
  REQUIRE(hooks.relations.size() == 3);
  CHECK(
      (hooks.relations[0].move == Relation::Move::permuted && hooks.relations[0].axis == Axis::rows && hooks.relations[0].bits));
  CHECK((hooks.relations[1].move == Relation::Move::first_part && hooks.relations[1].axis == Axis::rows));
  // The terms of a sum may be added in another order, which changes bits; half of them give another sum.
  CHECK((hooks.relations[2].axis == Axis::cols && !hooks.relations[2].bits));
  CHECK_THROWS_AS(hooks_of_own<HalfASum>(), BadInput);
  CHECK_THROWS_WITH(
      hooks_of_own<Elsewhere>(),
      "'tokens_permuted' is no relation of this op; AXIS_permuted, or first_AXIS of an axis without sums, was expected");
}
