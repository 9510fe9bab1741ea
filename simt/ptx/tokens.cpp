// SPDX-License-Identifier: Apache-2.0
#include "tokens.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace simt::ptx {

namespace {
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

void Tokens::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') ++at_;
    else if (text_.substr(at_, 2) == "//") at_ = std::min(text_.find('\n', at_), text_.size());
    else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) throw Refused(file_, line_, "a comment has no end");
      for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n';
    } else {
      return;
    }
  }
}

Token Tokens::read() {
  skip_blanks();
  Token t{.kind = Token::Kind::end, .text = {}, .line = line_};
  if (at_ >= text_.size()) return t;
  const std::size_t first = at_;
  const char c = text_[at_];
  if (c == '"') {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == text_.npos || text_[end] == '\n') throw Refused(file_, line_, "a text in quotes has no end");
    at_ = end + 1;
    return {Token::Kind::text, text_.substr(first + 1, end - first - 1), line_};
  }
  if (letter(c)) {
    t.kind = Token::Kind::word;
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_.substr(at_, 2) == "::"))
      at_ += text_[at_] == ':' ? 2 : 1;
  } else if (digit(c)) {
    t.kind = Token::Kind::number;
    while (at_ < text_.size() && ((letter(text_[at_]) && text_[at_] != '$' && text_[at_] != '%') || digit(text_[at_]))) {
      const bool exponent = (text_[at_] == 'e' || text_[at_] == 'E') && text_.substr(first, 2) != "0x" &&
                            text_.substr(first, 2) != "0f" && text_.substr(first, 2) != "0d";
      ++at_;
      if (exponent && at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    }
  } else {
    t.kind = Token::Kind::mark;
    ++at_;
  }
  t.text = text_.substr(first, at_ - first);
  return t;
}

std::string Tokens::found() const {
  if (next_.kind == Token::Kind::end) return "the end of the text";
  std::string shown;
  for (const char c : next_.text.substr(0, 60)) shown += c >= ' ' && c < 127 ? c : '?';
  return "'" + shown + "'";
}

void Tokens::expect(std::string_view t) {
  if (!accept(t)) refuse("'" + std::string(t) + "' was expected, not " + found());
}

std::string_view Tokens::word(const char* what) {
  if (next_.kind != Token::Kind::word) refuse(std::string(what) + " was expected, not " + found());
  return take().text;
}

std::int64_t Tokens::integer(const char* what) {
  const bool minus = accept("-");
  NumberKind kind{};
  std::uint64_t bits = 0;
  if (next_.kind != Token::Kind::number || !number(next_.text, kind, bits) || kind != NumberKind::integer)
    refuse(std::string(what) + " was expected, not " + found());
  take();
  return static_cast<std::int64_t>(minus ? 0 - bits : bits);
}

bool number(std::string_view text, NumberKind& kind, std::uint64_t& bits) {
  const auto parse = [&](std::string_view digits, int base) {
    while (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, base);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  };
  const std::string_view head = text.substr(0, 2);
  kind = NumberKind::integer;
  if (head == "0f" || head == "0F") {
    kind = NumberKind::single;
    return text.size() == 10 && parse(text.substr(2), 16);
  }
  if (head == "0d" || head == "0D") {
    kind = NumberKind::real;
    return text.size() == 18 && parse(text.substr(2), 16);
  }
  if (head == "0x" || head == "0X") return parse(text.substr(2), 16);
  if (head == "0b" || head == "0B") return parse(text.substr(2), 2);
  if (text.find_first_of(".eE") != text.npos) {
    const std::string copy(text);
    char* end = nullptr;
    const double v = std::strtod(copy.c_str(), &end);
    kind = NumberKind::real;
    bits = std::bit_cast<std::uint64_t>(v);
    return *end == 0;
  }
  return text.size() > 1 && text[0] == '0' && text != "0U" ? parse(text.substr(1), 8) : parse(text, 10);
}

}  // namespace simt::ptx
