// SPDX-License-Identifier: Apache-2.0
// Words, numbers and marks of a PTX text, each with its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "module.hpp"

namespace simt::ptx {

struct Token {
  enum class Kind : std::uint8_t { word, number, text, mark, end };
  Kind kind = Kind::end;
  std::string_view text;  // of a text without its quotes
  int line = 1;
  bool is(std::string_view t) const { return kind != Kind::text && text == t; }
};

class Tokens {
 public:
  Tokens(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { next_ = read(); }
  const Token& peek() const { return next_; }
  Token take() {
    const Token t = next_;
    next_ = read();
    return t;
  }
  bool accept(std::string_view t) {
    if (!next_.is(t)) return false;
    take();
    return true;
  }
  void expect(std::string_view t);
  std::string_view word(const char* what);
  std::int64_t integer(const char* what);
  [[noreturn]] void refuse(const std::string& why) const { throw Refused(file_, next_.line, why); }
  std::string found() const;  // the next token in quotes, cut short

 private:
  Token read();
  void skip_blanks();
  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token next_;
};

// The value of a number without a sign; false if it is none.  0f and 0d give the bits of a float and of a double.
enum class NumberKind : std::uint8_t { integer, single, real };
bool number(std::string_view text, NumberKind& kind, std::uint64_t& bits);

}  // namespace simt::ptx
