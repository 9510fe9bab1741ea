// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "validate/base/error.hpp"
#include "validate/console/file_options.hpp"
#include "validate/console/flag_values.hpp"
#include "validate/model/command.hpp"

namespace assay {

void add_model(CLI::App& app, int& code) {
  const auto f = std::make_shared<ModelFlags>();
  CLI::App& model = *app.add_subcommand("model", "run a decoder with our kernels, and check it against the golden decoder");
  reads_file(model.add_option("folder", f->folder, "folder with config.json and model.safetensors, or its index"));
  reads_file(model.add_option("--config", f->config, "config.json of a model of the family gpt2, gpt_neox or llama"));
  model
      .add_option(
          "--ignore-field", f->ignored_fields,
          "field of config.json to leave out although it asks for what is not computed here, like sliding_window (repeatable)")
      ->allow_extra_args(false);
  reads_file(model.add_option("--weights", f->weights, "model.safetensors, its index, or a folder that has one"));
  model.add_option("--dtype", f->dtype, "f16, bf16 or f32 (default: that of the weights)")
      ->check(one_of("dtype", {"f16", "bf16", "f32"}));
  model.add_option("--backend", f->machine.backend, "simt, cuda, or auto: cuda if there is a GPU")
      ->capture_default_str()
      ->check(one_of("backend", {"auto", "simt", "cuda"}));
  model.add_option("--kernel", f->kernels, "kernels, as OP/NAME or NAME, with @LAYER for one layer (default: the op's best)")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option* set =
      model.add_option("--set", f->set, "kernels that --kernel may name too: trial, watch, hostile, or the file of a set");
  model
      .add_option("--ops", f->ops, "fused: ops that do several steps; steps: one op for each; joined: q, k and v as one product")
      ->capture_default_str()
      ->check(one_of("choice of ops", {"fused", "steps", "joined"}));
  model.add_option("--page-size", f->page_size, "positions in a page of the cache")
      ->capture_default_str()
      ->transform(whole_number(1, 1 << 20));
  model.add_option("--pages", f->pages, "pages in the cache (default: as many as are needed)")
      ->transform(whole_number(1, 1 << 24));
  model.add_option("--prompt-ids", f->ids, "token ids of a prompt, like 1,2,3 (repeatable)")->allow_extra_args(false);
  model.add_option("--prompt-text", f->texts, "a prompt whose bytes are the tokens (repeatable)")->allow_extra_args(false);
  model.add_option("--tokens", f->tokens, "tokens to generate; with --check, tokens of each text")
      ->capture_default_str()
      ->transform(whole_number(1, 1 << 20));
  model.add_option("--temperature", f->temperature, "draw tokens by softmax(logits / temperature); 0: the likeliest")
      ->capture_default_str()
      ->check(number("temperature", 0, 100, "a number from 0 to 100"));
  model.add_option("--seed", f->seed, "seed of what is drawn")->capture_default_str()->transform(seed());
  CLI::Option* golden = model.add_flag("--golden", f->golden, "generate with the golden decoder, in f64, without kernels");
  for (const char* of_kernels : {"--kernel", "--set", "--backend", "--ops", "--pages", "--page-size"})
    golden->excludes(of_kernels);
  CLI::Option* check = model.add_flag("--check", f->check, "judge each step, logits, tokens and perplexity");
  check->excludes(golden);
  reads_file(
      model.add_option("--text", f->file, "file whose bytes are the text to check on (default: random tokens)")->needs(check));
  model.add_option("--batch", f->batch, "texts of a check, each one token shorter than the one before it")
      ->capture_default_str()
      ->transform(whole_number(1, 4096))
      ->needs(check);
  model.add_option("--decode", f->decoded, "tokens of each text that are decoded one by one")
      ->capture_default_str()
      ->transform(whole_number(0, 1 << 20))
      ->needs(check);
  model.add_option("--samples", f->samples, "passes from which the band is measured")
      ->capture_default_str()
      ->transform(whole_number(2, 1000))
      ->needs(check);
  CLI::Option* bench = model.add_flag("--bench", f->bench, "time prompts and tokens, on a GPU");
  bench->excludes(golden)->excludes(check)->excludes(set);
  model.add_flag("--random-weights", f->random_weights,
                 "weights of the shape that config.json gives, made here; in bf16 unless --dtype says");
  model.add_option("--prompt-lengths", f->prompt_lengths, "tokens of each prompt that is timed")
      ->capture_default_str()
      ->delimiter(',')
      ->transform(whole_number(2, 1 << 20))
      ->needs(bench);
  model.add_option("--batches", f->batches, "how many prompts are read at once")
      ->capture_default_str()
      ->delimiter(',')
      ->transform(whole_number(1, 4096))
      ->needs(bench);
  model.add_option("--ahead", f->ahead, "how many passes of decoding start before the host reads their tokens")
      ->capture_default_str()
      ->transform(whole_number(1, 1024))
      ->needs(bench);
  model.add_flag("--by-step", f->by_step, "the time of each kind of steps, too")->needs(bench);
  writes_file(model.add_option("--json", f->json, "write the figures of --check or --bench to this file"));
  model.add_option("--datasets", f->datasets, "folder of the datasets (default: found beside the program)")->check(datasets());
  model.callback([f, &code] {
    if (!f->json.empty() && !f->check && !f->bench) throw BadInput("--json takes the figures of --check or --bench");
    if (f->random_weights && !f->weights.empty()) throw BadInput("--random-weights and --weights exclude each other");
    if (f->folder.empty() && (f->config.empty() || (f->weights.empty() && !f->random_weights)))
      throw BadInput("model takes a folder, or --config and --weights  (validate model datasets/checkpoints/bytes --check)");
    if (f->check && !(f->ids.empty() && f->texts.empty())) throw BadInput("--check takes its tokens from --text, and no prompt");
    if (f->bench && !(f->ids.empty() && f->texts.empty())) throw BadInput("--bench makes its prompts, and takes none");
    if (f->bench && f->tokens < 3) throw BadInput("--bench takes --tokens from 3 on");
    if (!f->check && !f->bench && f->ids.empty() && f->texts.empty())
      throw BadInput("model generates from a prompt: --prompt-text or --prompt-ids; or it takes --check or --bench");
    code = model_command(*f);
  });
}

}  // namespace assay
