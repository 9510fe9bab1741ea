# SPDX-License-Identifier: Apache-2.0
"""Finds statements of C++ and CUDA that do the work of several: expressions that a comma glues, and a condition that assigns."""
import re
from typing import NamedTuple

TOKEN = re.compile(
    r"(?P<nothing>\s+|//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|\\\n)"
    r'|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\s]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\')'
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>::|->|\+\+|--|<<=|<=>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)",
    re.S,
)
DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S)
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="}
CLOSING = {"(": ")", "[": "]", "{": "}"}
# What a statement begins with that is no expression.
DECLARING = set(
    "using typedef template friend static_assert enum struct class union namespace extern public private protected static const "
    "constexpr constinit auto inline unsigned signed volatile mutable thread_local register int float double bool char long short "
    "void goto typename explicit virtual operator alignas asm __device__ __global__ __shared__ __constant__ [ KERNEL".split()
)
# What stands between a function's parameters, or a lambda's, and its body.
BEFORE_BODY = {"const", "noexcept", "mutable", "override", "final", "->"}


class Token(NamedTuple):
    kind: str
    text: str
    begin: int
    end: int


class Unit:
    """The tokens of a file, and what its brackets hold."""

    def __init__(self, source):
        self.source = source
        self.tokens = []
        self.partner = {}  # of each bracket
        self.glued = []  # (first token, semicolon) of each statement that is several
        self._read()
        self._match_brackets()
        self._block(0, len(self.tokens))

    def _read(self):
        place = 0
        while place < len(self.source):
            at_line_start = place == 0 or self.source[place - 1] == "\n"
            directive = DIRECTIVE.match(self.source, place) if at_line_start else None
            match = directive or TOKEN.match(self.source, place)
            if not directive and match.lastgroup != "nothing":
                kind = "text" if match["text"] else match.lastgroup
                self.tokens.append(Token(kind, match.group() if kind != "text" else '""', match.start(), match.end()))
            place = match.end() if match.group() else place + 1

    def _match_brackets(self):
        opened = []
        for index, token in enumerate(self.tokens):
            if token.text in CLOSING:
                opened.append(index)
            elif token.text in CLOSING.values():
                while opened and CLOSING[self.text(opened[-1])] != token.text:
                    opened.pop()  # Note: branches of the preprocessor may open a bracket twice
                if opened:
                    self.partner[opened[-1]] = index
                    opened.pop()

    def text(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def behind_arguments(self, opening):
        """The index behind template arguments that open here with '<', or None where it compares."""
        depth = 0
        index = opening
        while index < len(self.tokens):
            text = self.text(index)
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return index + 1
            if text in ASSIGNMENTS or text in (";", ")", "]", "}", "&&", "||", "==", "<=", ">="):
                return None
            index = self.partner.get(index, index) + 1
        return None

    def declares(self, first, last):
        """Whether a statement is a declaration: a type, then a name."""
        if self.text(first) in DECLARING:
            return True
        if self.tokens[first].kind != "name" or self.text(first) in ("return", "throw", "delete", "new"):
            return False
        index = first
        while True:  # the type: names, '::' and template arguments
            index += self.tokens[index].kind == "name"
            if self.text(index) == "<":
                behind = self.behind_arguments(index)
                if behind is None:
                    return False
                index = behind
            if self.text(index) != "::":
                break
            index += 1
        while self.text(index) in ("*", "&", "&&", "const"):
            index += 1
        return index < last and self.tokens[index].kind == "name"

    def _is_block(self, opening):
        """Whether a brace opens a block of statements, and no list of values."""
        if self.text(opening - 1) in (")", "]", "else", "do", "try", "{", "}", ";", ":", ""):
            return True
        index = opening - 1
        while self.text(index) not in ("", ";", "{", "}", "(", ")", ",", "=", "return"):
            if self.text(index) == "enum" or self.text(index - 1) == "enum":
                return False
            if self.text(index) in ("namespace", "struct", "class", "union", "extern") or self.text(index) in BEFORE_BODY:
                return True
            index -= 1
        return False

    def _bracket(self, opening):
        """Visits what a bracket holds; says whether that is a block."""
        closing = self.partner[opening]
        if self.text(opening) == "{" and self._is_block(opening):
            self._block(opening + 1, closing)
            return True
        self._brackets(opening + 1, closing)
        return False

    def _brackets(self, first, behind):
        index = first
        while index < behind:
            if index in self.partner:
                self._bracket(index)
            index = self.partner.get(index, index) + 1

    def _block(self, first, behind):
        begin = first
        has_comma = False
        index = first
        while index < behind:
            text = self.text(index)
            ends = False
            if text in ("if", "for", "while", "switch") and index == begin:
                index += 1 + (self.text(index + 1) == "constexpr")
                self._bracket(index)
                index = self.partner[index]
                ends = True
            elif text in ("else", "do", "try") and index == begin:
                ends = True
            elif text in ("case", "default", "public", "private", "protected") and index == begin:
                while self.text(index) != ":":
                    index += 1
                ends = True
            elif text == "<" and (self.tokens[index - 1].kind == "name" or self.text(index - 3) == "operator"):
                arguments_end = self.behind_arguments(index)
                if arguments_end is not None:
                    ends = self.text(begin) == "template" and index == begin + 1
                    self._brackets(index + 1, arguments_end)
                    index = arguments_end - 1
            elif index in self.partner:
                is_block = self._bracket(index)
                index = self.partner[index]
                # The body of a lambda or of a class is a part of its statement.
                goes_on = self.text(index + 1) in (")", ",", ";", "(", ".") or self.text(begin) in ("struct", "class", "union")
                ends = is_block and (index + 1 == behind or not goes_on)
            elif text == ",":
                has_comma = True
            elif text == ";":
                if has_comma and not self.declares(begin, index):
                    self.glued.append((begin, index))
                ends = True
            index += 1
            if ends:
                begin = index
                has_comma = False

    def assigning_conditions(self):
        """The keyword of each if and while whose condition assigns.  A declaration there is no assignment."""
        for index, token in enumerate(self.tokens):
            opening = index + 1 + (self.text(index + 1) == "constexpr")
            if token.text not in ("if", "while") or self.text(opening) != "(":
                continue
            inner = range(opening + 1, self.partner[opening])
            first = next((place + 1 for place in inner if self.text(place) == ";"), opening + 1)
            if not self.declares(first, inner.stop) and self._assigns(first, inner.stop):
                yield index

    def _assigns(self, first, behind):
        index = first
        while index < behind:
            if self.text(index) in ASSIGNMENTS:
                return True
            # What a lambda captures and does, and a list of values, is no condition.
            skips = self.text(index) == "{" or self.text(index) == "[" and self.text(index + 1) in ("&", "=", "]")
            index = self.partner[index] + 1 if skips and index in self.partner else index + 1
        return False

    def line(self, index):
        return self.source.count("\n", 0, self.tokens[index].begin) + 1


def glued_in(text):
    """The lines of a text that glue statements: (number, how) of each."""
    unit = Unit(text)
    for first, last in unit.glued:
        statement = text[unit.tokens[first].begin : unit.tokens[last].end]
        yield unit.line(first), f"a comma glues statements: {' '.join(statement.split())}"
    for index in unit.assigning_conditions():
        yield unit.line(index), f"the condition of this {unit.text(index)} assigns"
