// SPDX-License-Identifier: Apache-2.0
// The parser of what stands outside of functions: the header, variables, parameters.
#include <algorithm>
#include <bit>
#include <cstring>

#include "parser.hpp"

namespace simt::ptx {

unsigned bits_of_type(std::string_view type) {
  struct Named {
    std::string_view name;
    unsigned bits;
  };
  static constexpr Named kTypes[] = {{".pred", 1}, {".b8", 8},   {".u8", 8},   {".s8", 8},     {".b16", 16},
                                     {".u16", 16}, {".s16", 16}, {".f16", 16}, {".bf16", 16},  {".b32", 32},
                                     {".u32", 32}, {".s32", 32}, {".f32", 32}, {".f16x2", 32}, {".bf16x2", 32},
                                     {".b64", 64}, {".u64", 64}, {".s64", 64}, {".f64", 64}};
  for (const Named& t : kTypes)
    if (t.name == type) return t.bits;
  return 0;
}

const Function* Module::find(std::string_view name) const {
  for (const auto& f : functions)
    if (f->name == name) return f.get();
  return nullptr;
}

Module parse(std::string_view text, std::string file) { return Parser(text, std::move(file)).run(); }

Module Parser::run() {
  header();
  while (in_.peek().kind != Token::Kind::end) top_level();
  return std::move(module_);
}

void Parser::header() {
  name_id("bra");  // inline.cpp needs it
  if (!in_.accept(".version")) in_.refuse("a PTX module begins with .version, not " + in_.found());
  const Token version = in_.take();
  const std::size_t dot = version.text.find('.');
  if (version.kind != Token::Kind::number || dot == version.text.npos || version.text.size() > 5)
    in_.refuse("a version such as 8.0 was expected");
  module_.version = std::atoi(std::string(version.text.substr(0, dot)).c_str()) * 10 + (version.text[dot + 1] - '0');
  in_.expect(".target");
  module_.target = in_.word("a target such as sm_80");
  if (!module_.target.starts_with("sm_")) in_.refuse("a target such as sm_80 was expected, not '" + module_.target + "'");
  while (in_.accept(",")) in_.word("an option of the target");
  if (in_.accept(".address_size") && in_.integer("an address size") != 64) in_.refuse("only an address size of 64 is taken");
}

void Parser::top_level() {
  bool external = false;
  for (;;) {
    if (in_.accept(".extern")) external = true;
    else if (!in_.accept(".visible") && !in_.accept(".weak") && !in_.accept(".common")) break;
  }
  const Token t = in_.peek();
  if (in_.accept(".entry")) return function(true);
  if (in_.accept(".func")) return function(false);
  if (in_.accept(".file")) return file_line();
  if (in_.accept(".section")) return section();
  if (in_.accept(".pragma")) {
    in_.take();
    return in_.expect(";");
  }
  if (in_.accept(".loc")) return location();
  if (t.is(".global") || t.is(".const") || t.is(".shared")) {
    in_.take();
    const std::size_t before = module_.variables.size();
    variables(t.is(".global") ? Space::global : t.is(".const") ? Space::constant : Space::shared, external, module_.variables);
    for (std::size_t i = before; i < module_.variables.size(); ++i)
      outer_.insert_or_assign(std::string_view(module_.names[name_id(module_.variables[i].name)]), static_cast<std::uint32_t>(i));
    return;
  }
  in_.refuse("a function or a variable was expected, not " + in_.found());
}

// Debug information is skipped.
void Parser::section() {
  in_.word("the name of a section");
  in_.expect("{");
  for (int depth = 1; depth > 0;) {
    const Token t = in_.take();
    if (t.kind == Token::Kind::end) in_.refuse("a section has no end");
    depth += t.is("{") ? 1 : t.is("}") ? -1 : 0;
  }
}

void Parser::file_line() {
  const auto number = static_cast<std::uint32_t>(in_.integer("the number of a file"));
  const Token name = in_.take();
  if (name.kind != Token::Kind::text) in_.refuse("the name of a file was expected");
  if (module_.files.size() < kMostNames) module_.files[number] = std::string(name.text);
  while (in_.accept(",")) in_.integer("a number");
}

void Parser::variables(Space space, bool external, std::vector<Variable>& all) {
  do {
    if (all.size() >= kMostVariables) in_.refuse("the module has too many variables");
    Variable v = variable(space);
    v.external = external || (space == Space::shared && v.bytes == 0);
    all.push_back(std::move(v));
  } while (in_.accept(","));
  in_.expect(";");
}

// `.align 4 .b8 name[16] = {...}`, after its space.
Variable Parser::variable(Space space) {
  Variable v;
  v.space = space;
  unsigned bits = 0, count = 1;
  bool aligned = false;
  while (in_.peek().kind == Token::Kind::word && in_.peek().text[0] == '.') {
    const std::string_view word = in_.take().text;
    if (word == ".align") {
      const std::int64_t align = in_.integer("an alignment");
      if (align < 1 || align > 4096 || !std::has_single_bit(static_cast<std::uint64_t>(align)))
        in_.refuse("an alignment is a power of two up to 4096");
      v.align = static_cast<std::uint32_t>(align);
      aligned = true;
    } else if (word == ".v2" || word == ".v4") {
      count = word == ".v2" ? 2 : 4;
    } else if (word == ".ptr" || word == ".global" || word == ".const" || word == ".shared" || word == ".local") {
      // What a parameter points at changes nothing.
    } else if (bits = bits_of_type(word); bits < 8) {
      in_.refuse("'" + std::string(word) + "' is not taken in the declaration of a variable");
    }
  }
  if (bits == 0) in_.refuse("a type was expected, not " + in_.found());
  if (!aligned) v.align = bits / 8 * count;
  v.name = in_.word("the name of a variable");
  v.bytes = bits / 8 * count * dimensions(v);
  if (v.bytes > kMostVariableBytes) in_.refuse("the variable '" + v.name + "' has more than 2^28 bytes");
  if (in_.accept("=")) initialiser(v, bits);
  return v;
}

// The number of elements; 0 for `[]`.
std::uint64_t Parser::dimensions(Variable& v) {
  std::uint64_t n = 1;
  while (in_.accept("[")) {
    const std::int64_t extent = in_.peek().is("]") ? 0 : in_.integer("a number of elements");
    if (extent < 0 || static_cast<std::uint64_t>(extent) > kMostVariableBytes || n > kMostVariableBytes)
      in_.refuse("the variable '" + v.name + "' has more than 2^28 elements");
    n *= static_cast<std::uint64_t>(extent);
    in_.expect("]");
  }
  return n;
}

void Parser::initialiser(Variable& v, unsigned element_bits) {
  const auto one = [&] {
    const bool minus = in_.accept("-");
    NumberKind kind{};
    std::uint64_t bits = 0;
    if (in_.peek().kind != Token::Kind::number || !number(in_.peek().text, kind, bits))
      in_.refuse("an initialiser of numbers was expected, not " + in_.found());
    in_.take();
    if (minus) bits = kind == NumberKind::integer ? 0 - bits : bits ^ std::uint64_t{1} << 63;
    if (kind == NumberKind::real && element_bits == 32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    const std::size_t at = v.values.size();
    if (at + element_bits / 8 > std::max<std::uint64_t>(v.bytes, 1)) in_.refuse("'" + v.name + "' has more values than elements");
    v.values.resize(at + element_bits / 8);
    std::memcpy(v.values.data() + at, &bits, element_bits / 8);
  };
  int depth = 0;
  do {
    while (in_.accept("{"))
      if (++depth > kMostNesting) in_.refuse("an initialiser nests too deeply");
    one();
    while (depth > 0 && in_.accept("}")) --depth;
  } while (depth > 0 && (in_.accept(","), true));
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> all;
  if (!in_.accept("(")) return all;
  if (in_.accept(")")) return all;
  do {
    if (in_.accept(".reg")) in_.refuse("parameters in registers are not taken");
    in_.expect(".param");
    if (all.size() >= 4096) in_.refuse("the function has more than 4096 parameters");
    all.push_back(variable(Space::param));
  } while (in_.accept(","));
  in_.expect(")");
  return all;
}

void Parser::function(bool entry) {
  auto made = std::make_unique<Function>();
  f_ = made.get();
  f_->entry = entry;
  f_->line = in_.peek().line;
  if (!entry && in_.peek().is("(")) f_->results = parameters();
  f_->name = in_.word("the name of a function");
  f_->parameters = parameters();
  directives();
  if (!in_.accept(";")) {
    f_->has_body = true;
    body();
  }
  for (auto& known : module_.functions)
    if (known->name == f_->name) {
      if (known->has_body && f_->has_body) in_.refuse("the function '" + f_->name + "' is defined twice");
      if (f_->has_body) known = std::move(made);
      return;
    }
  if (module_.functions.size() >= kMostVariables) in_.refuse("the module has too many functions");
  module_.functions.push_back(std::move(made));
}

// `.maxntid 128, 1, 1` and the like; only .reqntid is kept.
void Parser::directives() {
  while (in_.peek().kind == Token::Kind::word) {
    const std::string_view word = in_.take().text;
    if (word == ".noreturn" || word == ".blocksareclusters") continue;
    if (word == ".pragma") {
      in_.take();
      in_.expect(";");
      continue;
    }
    if (word != ".maxntid" && word != ".reqntid" && word != ".minnctapersm" && word != ".maxnreg" && word != ".maxnctapersm" &&
        word != ".explicitcluster" && word != ".reqnctapercluster" && word != ".maxclusterrank")
      in_.refuse("'" + std::string(word) + "' is not taken as a directive of a function");
    if (word == ".explicitcluster") continue;
    unsigned n[3] = {1, 1, 1};
    for (unsigned i = 0; i < 3; ++i) {
      n[i] = static_cast<unsigned>(in_.integer("a number"));
      if (!in_.accept(",")) break;
    }
    if (word == ".reqnctapercluster" && n[0] * n[1] * n[2] != 1) in_.refuse("clusters of several blocks are not taken");
    if (word == ".reqntid") std::copy(n, n + 3, f_->threads);
  }
}

}  // namespace simt::ptx
