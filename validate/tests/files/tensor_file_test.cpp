// SPDX-License-Identifier: Apache-2.0
// Files of tensors are read as they were meant, and others are refused in a sentence that names what is wrong.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/files/tensor_file.hpp"
#include "validate/tests/files/tensor_files.hpp"

namespace assay {
namespace {

using namespace test;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text(std::span<const std::byte> b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

const std::string kFour(16, 'e');  // the elements of four f32

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& range) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + range + "}";
}
std::string x(const std::string& dtype, const std::string& shape, const std::string& range) {
  return R"({"x":)" + tensor(dtype, shape, range) + "}";
}
std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

struct Hostile {
  std::string file, says;  // says: a part of the sentence
};

std::vector<Hostile> hostile_safetensors() {
  const std::string good = x("F32", "[4]", "[0,16]"), other = tensor("F32", "[2]", "[0,8]");
  std::vector<Hostile> all{
      {"", "it is empty"},
      {"1234567", "it has 7 bytes"},
      {raw(std::uint64_t{0}), "its header is no JSON object"},
      {raw(std::uint64_t{1}), "its header has 1 bytes by its length, and 0 follow"},
      {raw(std::uint64_t{1} << 63), "9223372036854775808 bytes by its length"},
      {raw(~std::uint64_t{0}), "18446744073709551615 bytes by its length"},
      {raw(std::uint64_t{good.size() + 17}) + good + kFour, "by its length"},
      {raw(std::uint64_t{1} << 25) + std::string(1 << 25, ' '), "at most 16777216 are taken"},
      {safetensors("null", ""), "no JSON object"},
      {safetensors("[]", ""), "no JSON object"},
      {safetensors("{", ""), "no JSON object"},
      {safetensors("{}x", ""), "no JSON object"},
      {safetensors("{\"x\":NaN}", ""), "no JSON object"},
      {safetensors("{\"\xff\":1}", ""), "no JSON object"},
      {safetensors(std::string("{\"x\0\":1}", 8), ""), "no JSON object"},
      {safetensors(good.substr(0, good.size() - 1), kFour), "no JSON object"},
      {safetensors(nested(65), ""), "too deep"},
      {safetensors(nested(1 << 20), ""), "too deep"},
      {safetensors("{\"x\":" + nested(70) + "}", ""), "too deep"},
      {safetensors("{\"x\":" + other + ",\"x\":" + other + "}", std::string(8, 'e')), "has 'x' twice"},
      {safetensors(R"({"x":{"dtype":"F32","dtype":"F16","shape":[4],"data_offsets":[0,16]}})", kFour), "has 'dtype' twice"},
      {safetensors(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "has 'a' twice"},
      {safetensors(R"({"__metadata__":{},"__metadata__":{}})", ""), "has '__metadata__' twice"},
      {safetensors(R"({"__metadata__":[]})", ""), "__metadata__ is no object"},
      {safetensors(R"({"__metadata__":"text"})", ""), "__metadata__ is no object"},
      {safetensors(R"({"__metadata__":{"a":1}})", ""), "'a' of its __metadata__ is no text"},
      {safetensors(R"({"__metadata__":{"a":null}})", ""), "'a' of its __metadata__ is no text"},
      {safetensors(R"({"__metadata__":{"a":{"b":"c"}}})", ""), "'a' of its __metadata__ is no text"},
      {safetensors(R"({"x":1})", ""), "'x' is not told by"},
      {safetensors(R"({"x":[]})", ""), "'x' is not told by"},
      {safetensors(R"({"x":{}})", ""), "'x' is not told by"},
      {safetensors(R"({"x":{"dtype":"F32","shape":[4]}})", kFour), "'x' is not told by"},
      {safetensors(R"({"x":{"dtype":32,"shape":[4],"data_offsets":[0,16]}})", kFour), "'x' is not told by"},
      {safetensors(R"({"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"more":1}})", kFour), "'x' is not told by"},
      {safetensors(R"({"x":{"type":"F32","shape":[4],"data_offsets":[0,16]}})", kFour), "'x' is not told by"},
      {safetensors(R"({"x":{"dtype":"F32","shapes":[4],"data_offsets":[0,16]}})", kFour), "'x' has no list 'shape'"},
      {safetensors(R"({"x":{"dtype":"F32","shape":[4],"offsets":[0,16]}})", kFour), "'x' has no list 'data_offsets'"},
      {safetensors(x("F32", "4", "[0,16]"), kFour), "no list 'shape'"},
      {safetensors(x("F32", "{}", "[0,16]"), kFour), "no list 'shape'"},
      {safetensors(x("F32", "[4]", "16"), kFour), "no list 'data_offsets'"}};
  for (const char* dtype : {"Q7", "", "f32", "FLOAT", "F128", "F32 "})
    all.push_back({safetensors(x(dtype, "[4]", "[0,16]"), kFour), "unknown dtype '" + std::string(dtype) + "'"});
  for (const char* extent : {"-1", "4.0", "\"4\"", "null", "1e3", "[4]", "18446744073709551615", "18446744073709551616",
                             "9223372036854775808", "1152921504606846977", "1e999"})
    all.push_back({safetensors(x("F32", "[" + std::string(extent) + "]", "[0,16]"), kFour),
                   std::string(extent) == "1e999" ? "no JSON object" : "'x': shape holds"});
  for (const char* offset : {"-1", "0.0", "\"0\"", "null", "18446744073709551615", "18446744073709551616", "9223372036854775808"})
    for (const bool first : {true, false})
      all.push_back(
          {safetensors(x("F32", "[4]", first ? "[" + std::string(offset) + ",16]" : "[0," + std::string(offset) + "]"), kFour),
           "'x': data_offsets holds"});
  for (const char* range :
       {"[]", "[0]", "[0,8,16]", "[16,0]", "[0,17]", "[8,24]", "[16,32]", "[1152921504606846976,1152921504606846976]"})
    all.push_back({safetensors(x("F32", "[4]", range), kFour), "are no range of the 16 bytes"});
  for (const char* shape :
       {"[3]", "[5]", "[0]", "[]", "[4,0]", "[2,2,2]", "[4294967296,4294967296]", "[1152921504606846976]",
        "[2,1152921504606846976,2]", "[3037000500,3037000500]", "[1152921504606846976,1152921504606846976,16]"})
    all.push_back({safetensors(x("F32", shape, "[0,16]"), kFour), "'x' has 16 bytes, and its shape"});
  for (const char* dtype : {"F16", "BF16", "F64", "I64", "BOOL", "U8", "F8_E4M3"})
    all.push_back(
        {safetensors(x(dtype, "[4]", "[0,16]"), kFour), "'x' has 16 bytes, and its shape [4] in " + std::string(dtype)});
  const auto two = [&](const char* a, const char* b, const std::string& elements, const char* says) {
    all.push_back({safetensors("{\"a\":" + tensor("F32", "[2]", a) + ",\"b\":" + tensor("F32", "[2]", b) + "}", elements), says});
  };
  two("[0,8]", "[0,8]", std::string(8, 'e'), "where another tensor lies");
  two("[0,8]", "[4,12]", std::string(12, 'e'), "'b' begins at byte 4, where another tensor lies");
  two("[8,16]", "[4,12]", kFour, "belong to no tensor");
  two("[0,8]", "[9,17]", std::string(17, 'e'), "bytes 8 to 9 of the elements belong to no tensor");
  two("[1,9]", "[9,17]", std::string(17, 'e'), "bytes 0 to 1 of the elements belong to no tensor");
  two("[0,8]", "[8,16]", std::string(20, 'e'), "bytes 16 to 20 of the elements belong to no tensor");
  return all;
}

std::vector<Hostile> hostile_npz() {
  const std::string good = npy(npy_header("<f4", "(4,)"), kFour);
  const auto member = [](const std::string& npy_bytes) { return zip({{.name = "x.npy", .bytes = npy_bytes}}); };
  const auto header = [&](const std::string& h) { return member(npy(h, kFour)); };
  const char* const kNoHeader = "its header is not";
  std::vector<Hostile> all{
      {"PK", "no directory at its end"},
      {std::string("PK\3\4") + std::string(100, '\0'), "no directory at its end"},
      {zip({{.name = "x.npy", .bytes = good}}, {.comment = std::string(70'000, 'c')}), "no directory at its end"},
      {zip({{.name = "x.npy", .bytes = good}}).substr(0, 150), "no directory at its end"},
      {zip({{.name = "x.npy", .bytes = good}}, {.members = 2}), "its directory has 2 members by its end, and 1 are there"},
      {zip({{.name = "x.npy", .bytes = good}}, {.members = 65'535}), "65535 members by its end, and 1 are there"},
      {zip({{.name = "x.npy", .bytes = good}}, {.begin = 1 << 30}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good}}, {.bytes = 1 << 30}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good}}, {.begin = 4}), "and 0 are there"},
      {zip({{.name = "x.npy", .bytes = good}}, {.begin = std::int64_t{1} << 62, .large = true}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good}}, {.bytes = std::int64_t{0x7fffffffffffffff}, .large = true}),
       "its directory names"},
      {zip({{.name = "x.npy", .bytes = good, .said_local = 1}}), "there is no member where 'x.npy' should begin"},
      {zip({{.name = "x.npy", .bytes = good, .said_local = 0xfffffff0}}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good, .said_local = std::int64_t{1} << 62, .large = true}}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good, .said_packed = 1 << 30}}), "its directory names"},
      {zip({{.name = "x.npy", .bytes = good, .said_packed = std::int64_t{0x7fffffffffffffff}, .large = true}}),
       "its directory names"},
      {zip({{.name = "x.npy", .bytes = good, .said_bytes = 7}}), "'x.npy': it is stored in"},
      {zip({{.name = "x.npy", .bytes = good, .said_sum = 7}}), "'x.npy': its bytes have another checksum"},
      {zip({{.name = "x.npy", .bytes = good, .flags = 1}}), "'x.npy': it is encrypted"},
      {zip({{.name = "x.npy", .bytes = good, .method = 12}}), "'x.npy': it is packed by method 12"},
      {zip({{.name = "x.txt", .bytes = good}}), "'x.txt': it is no .npy file"},
      {zip({{.name = "", .bytes = good}}), "it is no .npy file"},
      {zip({{.name = "x.npy", .bytes = good}, {.name = "x.npy", .bytes = good}}), "it has 'x.npy' twice"},
      {zip({{.name = "x.npy", .bytes = good}, {.name = "y.npy", .bytes = good, .said_local = 0}}),
       "lies where another member does"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .said_bytes = 1 << 30}}), "there is no room"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .said_bytes = std::int64_t{1} << 60, .large = true}}),
       "there is no room"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .said_bytes = 10}}), "its deflated bytes are damaged"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .said_bytes = 1000}}), "its deflated bytes are damaged"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .packed = std::string(90, '\xff')}}),
       "its deflated bytes are damaged"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .packed = deflated(good) + "more"}}),
       "its deflated bytes are damaged"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .packed = deflated(good).substr(0, 20)}}),
       "its deflated bytes are damaged"},
      {zip({{.name = "x.npy", .bytes = good, .deflate = true, .said_sum = 1}}), "another checksum"},
      {member(""), "does not begin as a .npy file does"},
      {member("\x93NUMPX\1"), "does not begin as a .npy file does"},
      {member(npy(npy_header("<f4", "(4,)"), kFour, 4)), "version 4 of .npy"},
      {member(npy(npy_header("<f4", "(4,)"), kFour, 0)), "version 0 of .npy"},
      {member("\x93NUMPY" + std::string{1, 0} + raw(std::uint16_t{60'000}) + "{}"), "its header has 60000 bytes by its length"},
      {member("\x93NUMPY" + std::string{2, 0} + raw(0xffffffffu) + "{}"), "its header has 4294967295 bytes by its length"},
      {member("\x93NUMPY" + std::string{2, 0}), "does not begin"},
      {header(""), kNoHeader},
      {header("{}"), kNoHeader},
      {header("[]"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False}"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x"), kNoHeader},
      {header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': [4]}"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': 4}"), kNoHeader},
      {header("{'descr': <f4, 'fortran_order': False, 'shape': (4,)}"), kNoHeader},
      {header("{'descr': '<f4, 'fortran_order': False, 'shape': (4,)}"), kNoHeader},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'more': 1}"), kNoHeader},
      {header("{'descr' '<f4', 'fortran_order': False, 'shape': (4,)}"), kNoHeader},
      {header(npy_header("<f4", "(-4,)")), kNoHeader},
      {header(npy_header("<f4", "(4.0,)")), kNoHeader},
      {header(npy_header("<f4", "(four,)")), kNoHeader},
      {header(npy_header("<f4", "(4 4)")), kNoHeader},
      {header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}"), "its elements are records"},
      {header(npy_header(">f4", "(4,)")), "big-endian"},
      {header(npy_header("|O", "(2,)")), "Python objects"},
      {header(npy_header("f4", "(4,)")), "its dtype 'f4' is none"},
      {header(npy_header("<q4", "(4,)")), "is none"},
      {header(npy_header("<f", "(4,)")), "is none"},
      {header(npy_header("<f-4", "(4,)")), "is none"},
      {header(npy_header("<f99999999999999999999", "(4,)")), "is none"},
      {header(npy_header("", "(4,)")), "is none"},
      {header(npy_header("<f4", "(18446744073709551616,)")), "an extent above 2^60"},
      {header(npy_header("<f4", "(9223372036854775808,)")), "an extent above 2^60"},
      {header(npy_header("<f4", "(1152921504606846976,)")), "takes more than 2^60"},
      {header(npy_header("<f4", "(4294967296, 4294967296)")), "takes more than 2^60"},
      {header(npy_header("<f4", "(3,)")), "it has 16 bytes of elements, and its shape [3] in <f4 takes 12"},
      {header(npy_header("<f8", "(4,)")), "takes 32"},
      {header(npy_header("<f4", "(0,)")), "takes 0"},
      {header(npy_header("<f4", "()")), "takes 4"},
      {header(npy_header("<f4", "(0, 4)", "True")), "takes 0"}};
  std::string axes = "(";
  for (int i = 0; i < 65; ++i) axes += "1,";
  all.push_back({header(npy_header("<f4", axes + "4)", "True")), "more than 64 axes"});
  return all;
}

TEST_CASE("files: what is no file of tensors is refused in a sentence that says why", "[files]") {
  std::vector<Hostile> all = hostile_safetensors();
  for (Hostile& h : hostile_npz()) all.push_back(std::move(h));
  CHECK(all.size() >= 100);
  const std::string path = (std::filesystem::temp_directory_path() / ("assay_tensors." + std::to_string(::getpid()))).string();
  for (const Hostile& h : all) {
    std::ofstream(path, std::ios::binary) << h.file;
    std::string why = "it was read";
    try {
      read_tensors(path);
    } catch (const BadInput& e) {
      why = e.what();
    }
    INFO(h.file.substr(0, 300) << "\n" << why << "\nexpected: " << h.says);
    CHECK(why.starts_with("'" + path + "' cannot be read as tensors: "));
    CHECK(why.find(h.says) != why.npos);
    CHECK(why.find('\n') == why.npos);
    CHECK(why.find("json.exception") == why.npos);
  }
  std::remove(path.c_str());
  for (const char* none : {"/no/such/file", "/", "/dev/zero"}) CHECK_THROWS_AS(read_tensors(none), BadInput);
}

TEST_CASE("files: tensors and metadata are read as they were written", "[files]") {
  const std::string a = raw(1.5f) + raw(-2.0f), b = raw(std::uint16_t{0x3c00});
  TensorFile file;
  file.tensors = {{.name = "half", .dtype = "f16", .known = f16, .shape = {1, 1}, .data = bytes(b)},
                  {.name = "pair", .dtype = "f32", .known = f32, .shape = {2}, .data = bytes(a)},
                  {.name = "none", .dtype = "i32", .known = i32, .shape = {0, 7}, .data = {}},
                  {.name = "brain", .dtype = "bf16", .known = bf16, .shape = {1}, .data = bytes(b)}};
  file.metadata = {{"op", "softmax"}, {"mask", "causal"}, {"empty", ""}};
  for (const char* ending : {".safetensors", ".npz"}) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("assay_written." + std::to_string(::getpid()) + ending)).string();
    require_tensors_writable(path);
    write_tensors(path, file);
    const TensorFile again = read_tensors(path);
    std::remove(path.c_str());
    INFO(path);
    CHECK(again.metadata == file.metadata);
    REQUIRE(again.tensors.size() == 4);
    for (const FileTensor& t : file.tensors) {
      const FileTensor* const read = again.find(t.name);
      REQUIRE(read);
      CHECK((read->known == t.known && read->shape == t.shape && text(read->data) == text(t.data)));
    }
  }
  CHECK_THROWS_AS(require_tensors_writable("x.bin"), BadInput);
  CHECK_THROWS_AS(require_tensors_writable("/no/such/folder/x.npz"), BadInput);
}

TEST_CASE("files: every way in which .npz may hold an array", "[files]") {
  const std::string six = "abcdef", by_columns = "adbecf";  // [2, 3]
  const std::string array = npy(npy_header("|S1", "(2, 3)"), six), columns = npy(npy_header("|S1", "(2, 3)", "True"), by_columns);
  for (const ZipEnd& end : {ZipEnd{}, ZipEnd{.large = true}, ZipEnd{.comment = "PK\5\6 and more"}})
    for (const bool deflate : {false, true})
      for (const bool large : {false, true})
        for (const std::string& npy_bytes : {array, columns}) {
          const std::string whole =
              zip({{.name = "x.npy", .bytes = npy_bytes, .deflate = deflate, .large = large},
                   {.name = "mask.npy", .bytes = npy(npy_header("<U2", "()"), std::string("n\0\0\0o\0\0\0", 8))},
                   {.name = "word.npy", .bytes = npy(npy_header("|S4", "()"), std::string("yes\0", 4))},
                   {.name = "bias.npy", .bytes = npy(npy_header("|b1", "()"), "\1"), .deflate = deflate},
                   {.name = "scale.npy", .bytes = npy(npy_header("<f8", "()"), raw(0.1), 2)},
                   {.name = "window.npy", .bytes = npy(npy_header("<i8", "()"), raw(std::int64_t{-7}), 3)},
                   {.name = "bits.npy", .bytes = npy(npy_header("|V2", "(1,)"), "ab")}},
                  end);
          const TensorFile file = npz_in(bytes(whole));
          const FileTensor* const read = file.find("x");
          REQUIRE(read);
          CHECK((text(read->data) == six && read->shape == std::vector<std::int64_t>{2, 3} && !read->known));
          REQUIRE(file.find("bits"));
          CHECK(file.find("bits")->known == bf16);
          CHECK(file.metadata == std::map<std::string, std::string>{{"mask", "no"}, {"word", "yes"}});
          for (const auto& [name, value] : {std::pair{"bias", "yes"}, {"scale", "0.1"}, {"window", "-7"}}) {
            REQUIRE(file.find(name));
            CHECK(value_text(*file.find(name)) == value);
          }
        }
}

TEST_CASE("files: one value of every form is read as text, and what is none is refused", "[files]") {
  const auto of = [](const std::string& dtype, std::optional<DType> known, const std::string& data,
                     const std::vector<std::int64_t>& shape = {}) {
    FileTensor t{.name = "v", .dtype = dtype, .known = known, .shape = shape, .data = bytes(data)};
    try {
      return value_text(t);
    } catch (const BadInput& e) {
      return std::string(e.what());
    }
  };
  CHECK(of("<f2", f16, raw(std::uint16_t{0x3400})) == "0.25");
  CHECK(of("|V2", bf16, raw(std::uint16_t{0x3e80})) == "0.25");
  CHECK(of("BF16", bf16, raw(std::uint16_t{0x3e80}), {1}) == "0.25");
  CHECK(of("<f4", f32, raw(0.1f), {1, 1}) == "0.1");
  CHECK(of("F64", f64, raw(0.1)) == "0.1");
  CHECK(of("<i4", i32, raw(-3)) == "-3");
  CHECK(of("I64", i64, raw(std::int64_t{-9'007'199'254'740'993})) == "-9007199254740993");
  for (const char* dtype : {"|i1", "I8"}) CHECK(of(dtype, {}, raw(std::int8_t{-5})) == "-5");
  for (const char* dtype : {"|u1", "U8"}) CHECK(of(dtype, {}, raw(std::uint8_t{250})) == "250");
  for (const char* dtype : {"<i2", "I16"}) CHECK(of(dtype, {}, raw(std::int16_t{-300})) == "-300");
  CHECK(of("U16", {}, raw(std::uint16_t{65'535})) == "65535");
  for (const char* dtype : {"<u4", "U32"}) CHECK(of(dtype, {}, raw(4'000'000'000u)) == "4000000000");
  for (const char* dtype : {"<u8", "U64"}) CHECK(of(dtype, {}, raw(std::uint64_t{1} << 63)) == "9223372036854775808");
  for (const char* dtype : {"|b1", "BOOL"}) CHECK((of(dtype, {}, "\1") == "yes" && of(dtype, {}, std::string(1, '\0')) == "no"));
  CHECK(of("|S8", {}, std::string("causal\0\0", 8)) == "causal");
  CHECK(of("|S8", {}, std::string("cau\0sal\xff", 8)) == "cau?sal?");
  CHECK(of("<U2", {}, std::string("n\0\0\0o\0\0\0", 8), {1}) == "no");
  CHECK(of("<U2", {}, std::string("\xe9\0\0\0o\0\0\0", 8)) == "?o");
  CHECK(of("<U0", {}, "").empty());
  CHECK(of("<u2", bf16, raw(std::uint16_t{1})).find("'v' is a uint16, which may be") == 0);
  for (const auto& [dtype, size] : {std::pair{"<c8", 8}, {"<c16", 16}, {"<f16", 16}, {"F8_E4M3", 1}, {"|V8", 8}})
    CHECK(of(dtype, {}, std::string(static_cast<std::size_t>(size), '\0')).find(std::string("'v' has the dtype ") + dtype) == 0);
  CHECK(of("<f4", f32, raw(1.f) + raw(2.f), {2}) == "'v' has the shape [2], and one value was expected");
  CHECK(of("<f4", f32, "", {0}) == "'v' has the shape [0], and one value was expected");
  CHECK(of("<f4", f32, "", {2, 0}) == "'v' has the shape [2, 0], and one value was expected");
}

TEST_CASE("files: what is neither .safetensors nor .npz is named", "[files]") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("assay_kind_" + std::to_string(::getpid()));
  const auto refused = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    try {
      read_tensors(path);
    } catch (const BadInput& e) {
      return std::string(e.what());
    }
    return std::string("it was taken");
  };
  const auto holds = [&](const std::string& contents, std::string_view part) {
    const std::string why = refused(contents);
    INFO(why);
    CHECK(why.find(part) != why.npos);
  };
  holds("", "it is empty");
  holds(npy(npy_header("<f4", "(2,)"), raw(1.f) + raw(2.f)), "it is a .npy file, whose tensor has no name; np.savez");
  holds("\x89HDF\r\n\x1a\n and more", "it is an HDF5 file");
  holds("GGUF\3\0\0\0 and more", "it is a GGUF file");
  holds("\x1f\x8b\b\0 and more of it", "it is compressed by gzip");
  holds(
      "\x7f"
      "ELF\2\1\1 and more of it",
      "it is a program or a library");
  holds(zip({{.name = "archive/data.pkl", .bytes = "\x80\2}q."}}), "torch.save() wrote it");
  holds("\x80\2}q\0X and more of it", "it is a Python pickle");
  holds("{\"op\": \"softmax\"}", "it is a text");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace assay
