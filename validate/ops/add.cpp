// SPDX-License-Identifier: Apache-2.0
// What only the judge needs for add: exact probes, the fills of its own edges.
#include "ops/add.hpp"

#include "validate/ops/elementwise_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

// b is -a except for up to one part in 32: the sum is exact, so a rounding of an input is amplified.
double cancelling(const FillSite& s, std::int64_t i) {
  const double a = random::normal(draws::shared_key(s, random::Purpose::value), draws::at(i));
  return s.tensor == "a" ? a : -a * (1 + draws::uniform(s, i) / 32);
}

}  // namespace

static Hooks hooks() {
  using namespace elementwise_fills;
  return {.fills = {{.name = "probe_integers",
                     .shows = "a wrong index, a term dropped or added twice; exact",
                     .value = small_integers,
                     .exact = always},
                    {.name = "cancelling", .shows = "an input that is rounded before it is used", .value = cancelling},
                    kSpecialPairs}};
}

static const LinkedHooks<add> linked(hooks);

}  // namespace assay
