# SPDX-License-Identifier: Apache-2.0
"""Tests validate model: tokens, the check with right and broken kernels, and what it refuses."""
import json
import shlex

import pytest

from command_line import SOURCES, changed, read, run

FOLDER = SOURCES / "validate/tests/model/llama"
TINY = shlex.quote(str(FOLDER))
BYTES = shlex.quote(str(SOURCES / "datasets/checkpoints/bytes"))
PROMPTS = "--prompt-ids 3,1,4,1 --prompt-ids 5 --tokens 6"


# --- kernels and the golden decoder generate the same tokens, in batches of unequal lengths, over pages of any size
@pytest.fixture(scope="module")
def golden(validate):
    return validate.works(f"model {TINY} --golden {PROMPTS}").out


@pytest.mark.parametrize(
    "flags",
    ["", "--page-size 1", "--ops steps", "--ops joined", "--kernel naive", "--dtype f32 --kernel linear/fma_tiled@1"],
)
def test_kernels_give_the_golden_tokens(validate, golden, flags):
    assert validate.works(f"model {TINY} --backend simt {PROMPTS} {flags}").out == golden


def test_configuration_and_weights_by_name(validate, golden):
    named = f"--config {TINY}/config.json --weights {TINY}/model.safetensors"
    assert validate.works(f"model {TINY} {named} --golden {PROMPTS}").out == golden


def test_a_seed_gives_its_tokens(validate):
    drawn = validate.works(f"model {TINY} --golden {PROMPTS} --temperature 2 --seed 7").out
    assert validate.works(f"model {TINY} --backend simt {PROMPTS} --temperature 2 --seed 7").out == drawn
    assert validate.works(f"model {TINY} --backend simt {PROMPTS} --temperature 2 --seed 8").out != drawn


def test_weights_of_a_shape_alone(validate):
    random = f"model --config {TINY}/config.json --random-weights"
    drawn = validate.works(f"{random} --backend simt {PROMPTS}").out
    assert len(drawn.splitlines()) == 2
    validate.works(f"{random} --golden --dtype f32 --prompt-ids 3,1 --tokens 2")
    assert validate.works(f"{random} --backend simt {PROMPTS}").out == drawn  # the same seed


# --- the check
CHECK = f"model {BYTES} --check --text {BYTES}/heldout.txt --tokens 40 --decode 2 --page-size 16 --samples 2 --backend simt --kernel naive"


def test_a_right_model(validate):
    said = validate(f"{CHECK} --json right.json")
    assert " within their bounds" in said.out
    assert said.out.splitlines()[-1] == "right"
    assert json.loads(read("right.json"))["right"] is True


def test_a_right_model_without_a_text(validate):
    validate(f"model {TINY} --backend simt --check --tokens 12")


def test_a_wrong_kernel_is_named(trial):
    said = trial(f"{CHECK} --kernel rope/turned_backwards@1 --json wrong.json", code=1)
    assert "first wrong  rope/turned_backwards, 'q' of layer 1, prefill" in said.out
    assert said.out.splitlines()[-1] == "wrong"
    assert '"kernel": "rope/turned_backwards"' in read("wrong.json")


@pytest.mark.parametrize(
    "part, flags",
    [
        ("stopped      linear/default_stream, 'attn' of layer 0: ", "--dtype f16 --kernel linear/default_stream"),
        (
            "stopped      embedding/copied_on_the_host, 'x' of layer -1: the worker process was killed by signal 11",
            "--kernel embedding/copied_on_the_host",
        ),
    ],
)
def test_a_kernel_that_ends_the_check(trial, part, flags):
    assert part in trial(f"{CHECK} {flags}", code=1).out


def test_a_kernel_that_ends_a_generation(trial):
    flags = "--backend simt --kernel naive,linear/default_stream --dtype f16"
    prompt = "--prompt-text 'forty bytes of a text, or a little more than that'"
    said = trial(f"model {BYTES} {flags} {prompt}", code=1)
    assert "stopped: linear/default_stream, 'attn' of layer 0: " in said.out


# --- a field of config.json that is not computed here is refused, unless it is named; then that is told
@pytest.fixture(scope="module")
def windowed(folder):
    """The words of a model with two such fields."""
    changed(FOLDER / "config.json", "windowed.json", "^{", '{"sliding_window": 16, "foo": [1],')
    return f"model --config windowed.json --weights {TINY}"


LIFTED = "--ignore-field foo --ignore-field sliding_window --backend simt"


def test_fields_that_are_not_computed(validate, windowed):
    said = "'windowed.json': 'foo' is [1], 'sliding_window' is 16 instead of null, and that is not computed here"
    assert said in validate(f"{windowed} --golden {PROMPTS}", code=2).err


def test_one_of_two_such_fields_is_named(validate, windowed):
    said = "not computed here  (--ignore-field sliding_window computes as if it were not there)"
    assert said in validate(f"{windowed} --golden {PROMPTS} --ignore-field foo", code=2).err


def test_such_fields_with_random_weights(validate, windowed):
    line = "model --config windowed.json --random-weights --golden --prompt-ids 1"
    assert "not computed here" in validate(line, code=2).err


@pytest.mark.parametrize(
    "part, field",
    [
        (f"--ignore-field foo: '{FOLDER}/config.json' has no such field", "foo"),
        ("is not refused, so there is nothing to ignore", "use_cache"),
    ],
)
def test_fields_that_cannot_be_ignored(validate, part, field):
    assert part in validate(f"model {TINY} --golden {PROMPTS} --ignore-field {field}", code=2).err


def test_tokens_without_ignored_fields(validate, windowed, golden):
    said = validate(f"{windowed} {LIFTED} {PROMPTS}")
    assert said.out == golden
    assert "ignored      'sliding_window' of config.json, which is 16" in said.err


def test_the_check_tells_ignored_fields(validate, windowed):
    said = validate(f"{windowed} {LIFTED} --check --tokens 12 --json lifted.json")
    assert "ignored      'foo' of config.json, which is [1]" in said.out
    assert json.loads(read("lifted.json"))["ignored_fields"] == {"foo": "[1]", "sliding_window": "16"}


# --- what it refuses
@pytest.mark.parametrize(
    "part, flags",
    [
        ("model takes a folder, or --config and --weights", ""),
        ("model generates from a prompt", "TINY"),
        (
            "--bench measures times, and backend simt has no clock",
            "--config TINY/config.json --random-weights --bench --backend simt",
        ),
        ("--bench makes its prompts", "TINY --bench --prompt-ids 1"),
        ("--bench takes --tokens from 3 on", "TINY --bench --tokens 2"),
        ("--json takes the figures of --check or --bench", "TINY --prompt-ids 1 --json x"),
        ("--random-weights and --weights exclude each other", "TINY --random-weights --weights TINY --prompt-ids 1"),
        ("--check takes its tokens from --text", "TINY --check --prompt-ids 1"),
        ("token ids with commas between them were expected", "TINY --prompt-ids 1,,2"),
        ("token ids with commas between them were expected", "TINY --prompt-ids 1,2,"),
        ("the token 32 is not one of 0 to 31", "TINY --backend simt --prompt-ids 1,32"),
        ("the token 32 is not one of 0 to 31", "TINY --golden --prompt-ids 1,32"),
        (
            "a sequence would have 65 positions, and the model takes 64",
            "TINY --backend simt --prompt-ids 1 --tokens 65",
        ),
        ("a sequence would have 65 positions, and the model takes 64", "TINY --golden --prompt-ids 1 --tokens 65"),
        (
            "more pages of 2 positions, and 0 of the 3 in the cache are free; --pages 4 would do",
            "TINY --backend simt --prompt-ids 1,2,3 --tokens 5 --page-size 2 --pages 3",
        ),
        ("the model has 32 tokens, and 256, one for each byte, were expected", "TINY --prompt-text hello"),
        (
            "has 4096 bytes, and 100 texts of 64 tokens were expected",
            "BYTES --check --text BYTES/heldout.txt --tokens 64 --batch 100 --backend simt",
        ),
        (
            "a text of 5 tokens, of which 4 are decoded, is too short; 6 were expected at least",
            "TINY --check --tokens 5 --backend simt",
        ),
        (
            "--kernel lineal/naive: unknown op of this model 'lineal'. Did you mean 'linear'?",
            "TINY --backend simt --prompt-ids 1 --kernel lineal/naive",
        ),
        (
            "--kernel linear/nave: unknown kernel 'nave'. Did you mean 'naive'?",
            "TINY --backend simt --prompt-ids 1 --kernel linear/nave",
        ),
        (
            "no step of this model has a kernel of that name in that layer",
            "TINY --backend simt --prompt-ids 1 --kernel rope/naive@2",
        ),
        (
            "behind the @ the number of a layer was expected",
            "TINY --backend simt --prompt-ids 1 --kernel rope/naive@x",
        ),
        (
            "linear/sm75_mma cannot compute 'attn' of layer 0: declares no f32",
            "TINY --backend simt --prompt-ids 1 --dtype f32 --kernel linear/sm75_mma",
        ),
        ("unknown dtype 'f64'", "TINY --prompt-ids 1 --dtype f64"),
        ("cannot write '/nowhere/x'", "TINY --check --json /nowhere/x"),
    ],
)
def test_wrong_words(validate, part, flags):
    validate.refuses(part, "model " + flags.replace("TINY", TINY).replace("BYTES", BYTES))


@pytest.mark.parametrize("wrong", ["nan", "-1", "1e3", "x"])
def test_wrong_temperatures(validate, wrong):
    validate.refuses("is not a number from 0 to 100", f"model {TINY} --prompt-ids 1 --temperature={wrong}")


@pytest.mark.parametrize("wrong", ["-1", "1.5", "99999999999999999999"])
def test_wrong_seeds(validate, wrong):
    validate.refuses("is not a whole number from 0 to 2^64 - 1", f"model {TINY} --prompt-ids 1 --seed={wrong}")


# --- the demo
def test_the_demo(binaries):
    said = run("bash", SOURCES / "examples/generate/generate.sh", binaries)
    assert "kernels  The word hacker means" in said.out
