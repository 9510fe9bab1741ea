// SPDX-License-Identifier: Apache-2.0
// validate model: tokens from a decoder whose every op is a kernel of ours, and its check against the golden decoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/backends/choice.hpp"

namespace CLI {
class App;
}

namespace assay {

struct ModelFlags {
  std::string folder;                       // has config.json and the weights
  std::string config, weights;              // files elsewhere; empty: those of the folder
  std::vector<std::string> ignored_fields;  // of config.json, left out although nothing here computes them
  std::string dtype;                        // empty: that of the weights
  BackendFlags machine;
  std::vector<std::string> kernels;         // words of KernelChoice
  std::string set;                          // kernels that may be named besides; empty: none
  std::string ops = "fused";                // or steps, joined
  std::int64_t page_size = 256, pages = 0;  // pages 0: as many as are needed
  std::vector<std::string> ids, texts;      // prompts: token ids, or texts whose bytes are tokens
  std::string file;                         // check: its bytes are the text
  std::int64_t tokens = 32;                 // that are generated; check: of each text
  std::int64_t decoded = 4, batch = 2;      // check: tokens of a text that are decoded one by one; texts
  int samples = 8;                          // check: passes from which the band is measured
  double temperature = 0;
  std::uint64_t seed = 2026;
  bool golden = false;  // the golden decoder generates
  bool check = false, bench = false;
  bool random_weights = false;                                // of the shape of config.json
  std::vector<std::int64_t> prompt_lengths{128}, batches{1};  // bench
  std::int64_t ahead = 1;                                     // bench: passes that are started before their tokens are read
  bool by_step = false;                                       // bench: the times of the kinds of steps too
  std::string json;                                           // check, bench: file for the figures
  std::string datasets;                                       // folder; empty: found beside the program
};

// Adds the subcommand; `code` gets the exit code.
void add_model(CLI::App& app, int& code);
// Returns the exit code.  Throws BadInput.
int model_command(const ModelFlags& flags);

}  // namespace assay
