// SPDX-License-Identifier: Apache-2.0
// The frequencies of rope that a config.json asks for.
#include "model/fixture.hpp"
#include "validate/base/error.hpp"

namespace assay {
namespace {

TEST_CASE("model: the scaling of rope's frequencies is read, and what is wrong with it is told in a sentence", "[model]") {
  const Json llama3{{"rope_type", "llama3"},
                    {"factor", 8},
                    {"low_freq_factor", 1},
                    {"high_freq_factor", 4},
                    {"original_max_position_embeddings", 8192}};
  const auto config = [](const char* field, const Json& value) {
    Json json = json_of(kFolder + "llama/config.json");
    json[field] = value;
    return parse_config(json.dump(), "config.json");
  };
  // Elements of Llama 3.1 8B's table, as transformers 5.24.0 computes it in f32: kept, blended, divided.
  constexpr std::pair<std::size_t, double> kOf8B[] = {{0, 1},
                                                      {1, 0.814617217},
                                                      {20, 0.0165604409},
                                                      {28, 0.00321144611},
                                                      {29, 0.00216657063},
                                                      {32, 0.000524846022},
                                                      {35, 9.55621217e-05},
                                                      {36, 7.78465546e-05},
                                                      {50, 4.41153452e-06},
                                                      {63, 3.06892588e-07}};
  Json of_8b = json_of(kFolder + "llama/config.json");
  of_8b["head_dim"] = 128;
  of_8b["rope_theta"] = 5e5;
  of_8b["rope_scaling"] = llama3;
  const std::vector<float> table = parse_config(of_8b.dump(), "8b").frequencies;
  REQUIRE(table.size() == 128);
  for (const auto& [i, f] : kOf8B) CHECK(table[i] == Approx(f).epsilon(2e-6));
  CHECK(table[64] == 0);

  CHECK(config("rope_scaling", {}).frequencies.empty());
  CHECK(config("rope_scaling", Json{{"type", "default"}}).frequencies.empty());
  const std::vector<float> slow{0.25F, 0.025F, 0.0025F, 0.00025F, 0, 0, 0, 0};
  CHECK(config("rope_scaling", Json{{"type", "linear"}, {"factor", 4}}).frequencies == slow);
  CHECK(config("rope_parameters", Json{{"rope_type", "linear"}, {"factor", 4}, {"rope_theta", 1e4}}).frequencies == slow);
  // The same logits as without, if nothing is slowed.
  const std::vector<std::int32_t> ids{3, 1, 4, 1, 5, 9, 2, 6};
  const LoadedModel unscaled = load_model(config("rope_scaling", Json{{"type", "linear"}, {"factor", 1}}), kFolder + "llama", {});
  REQUIRE(unscaled.decoder.frequencies.rank == 1);
  CHECK(reference::logits(unscaled.decoder, ids).back() ==
        Approx(reference::logits(loaded(kFolder + "llama").decoder, ids).back()).margin(1e-6));

  const auto says = [&](const char* field, const Json& value) -> std::string {
    try {
      config(field, value);
    } catch (const BadInput& e) {
      return e.what();
    }
    return "";
  };
  const auto without = [&](const char* field, const Json& value) {
    Json changed = llama3;
    if (value.is_null()) changed.erase(field);
    else changed[field] = value;
    return says("rope_scaling", changed);
  };
  CHECK(has(says("rope_scaling", 4), "'rope_scaling' is 4, and an object was expected"));
  CHECK(has(says("rope_scaling", Json{{"factor", 4}}), "'rope_scaling.rope_type' is missing, and a text was expected"));
  CHECK(has(says("rope_parameters", Json{{"rope_type", "linear"}}),
            "'rope_parameters.factor' is missing, and a number from 1 to 1048576 was expected"));
  CHECK(has(without("factor", 0.5), "'rope_scaling.factor' is 0.5, and a number from 1 to 1048576 was expected"));
  CHECK(has(without("factor", "8"), "'rope_scaling.factor' is \"8\", and a number from 1"));
  CHECK(has(without("low_freq_factor", nullptr), "'rope_scaling.low_freq_factor' is missing, and a number from 0"));
  CHECK(has(without("high_freq_factor", nullptr), "'rope_scaling.high_freq_factor' is missing, and a number from 0"));
  CHECK(has(without("high_freq_factor", 1),
            "'rope_scaling.high_freq_factor' is 1, and more than the low_freq_factor, 1, was expected"));
  CHECK(has(without("original_max_position_embeddings", nullptr),
            "'rope_scaling.original_max_position_embeddings' is missing, and a whole number from 1"));
  CHECK(has(says("rope_parameters", Json{{"rope_type", "default"}, {"partial_rotary_factor", 0.5}}),
            "'rope_parameters.partial_rotary_factor' is 0.5 instead of 1, and that is not computed here"));
  Json both = json_of(kFolder + "llama/config.json");
  both["rope_parameters"] = llama3;
  both["rope_scaling"] = Json{{"type", "linear"}, {"factor", 4}};
  CHECK_THROWS_WITH(parse_config(both.dump(), "config.json"),
                    "'config.json': 'rope_scaling' and 'rope_parameters' differ, and one of them was expected");
}

}  // namespace
}  // namespace assay
