# SPDX-License-Identifier: Apache-2.0
"""Kernels, and mistakes in edits of them, for `cmake/faults.py --self-test`."""

SOUND = """// SPDX-License-Identifier: Apache-2.0
// Idea.
#include <x>

namespace assay::ROOM(op, naive) {
  float max = 0;
  once();
  twice();
  twice();
}  // namespace assay::ROOM(op, naive)
"""
EDIT = "[wrong]\nfault: f.\ncaught by: c.\nkernel: naive\n"
OTHER = "[other]\nvariant: V.\nkernel: naive\n-  once();\n+  two();\n"
OF_OP = "namespace assay::ASSAY_FLAVOUR::op_room {\n}  // namespace assay::ASSAY_FLAVOUR::op_room\n"
HEADERS = {  # a kernel with headers, of which an edit changes inner.cuh
    "small/led.cu": '#include "cuda/op/lead.cuh"\n#include "cuda/op/open.cuh"\nnamespace assay::ROOM(op, led) {\n}\n',
    "lead.cuh": '// S.\n#pragma once\n#include "cuda/op/inner.cuh"\n#include "cuda/op/inner.cuh"\n' + OF_OP,
    "inner.cuh": "#pragma once\n#include <x>\nnamespace assay::ASSAY_FLAVOUR::part {\n  once();\n}\n",
    "open.cuh": "int open;\n",
}
IN = EDIT.replace("naive", "led") + "in: inner.cuh\n"
LED = """#include <x> namespace assay::ASSAY_FLAVOUR::part {} namespace assay::ASSAY_FLAVOUR::op_wrong::part {}
namespace assay::ROOM(op, wrong) { namespace part = ::assay::ASSAY_FLAVOUR::op_wrong::part; }
namespace assay::ASSAY_FLAVOUR::op_wrong::part { using namespace ::assay::ASSAY_FLAVOUR::part;   two(); }
namespace assay::ROOM(op, wrong) { }  // namespace assay::ROOM(op, wrong)
#include "cuda/op/open.cuh" namespace assay::ROOM(op, wrong) { }"""
MISTAKES = (  # an edit of faults.txt, and what is said of it
    (EDIT + "-  one();\n+  two();\n", ":5: [wrong]: the lines stand nowhere in OP/naive.cu: it has no line '  one();'"),
    (EDIT + "-  once();\n-  float max = 0;\n", ":5: [wrong]: the lines stand nowhere in OP/naive.cu: the lines do not follow"),
    (EDIT + "-once();\n+  two();\n", "it has no line 'once();'"),
    (EDIT + "-  once();\n\n-  twice();\n+  two();\n", ":7: [wrong]: the lines stand 2 times in OP/naive.cu: from line 8, 9 on"),
    (EDIT + " // Idea.\n+  two();\n", ":5: [wrong]: the lines stand in the head comment of OP/naive.cu"),
    (EDIT + "-  once();\n\n-  once();\n+  two();\n", ":7: [wrong]: two changes of one line"),
    (EDIT + "   once();\n", ":5: [wrong]: it changes nothing"),
    (EDIT + "+  two();\n", ":5: [wrong]: it takes no line away"),
    (EDIT + "-  once();\n" + "+  two();\n" * 16, ":1: [wrong]: it adds 16 lines, at most 15"),
    (EDIT, ":1: [wrong]: an edit has lines to replace"),
    (EDIT.replace("naive", "other") + "-  once();\n", ":1: [wrong]: there is no kernel OP/other.cu"),
    (EDIT.replace("naive", "roomless") + "-  once();\n", "opens no namespace assay::ROOM(op, roomless)"),
    (EDIT.replace("caught by: c.\n", "") + "-  once();\n", ":1: [wrong]: an edit has 'caught by:'"),
    (EDIT.replace("wrong", "file") + "-  once();\n", ":1: [file]: broken/file.cu is a kernel of that name"),
    (EDIT.replace("wrong", "naive") + "-  once();\n", ":1: [naive]: ./naive.cu is a kernel of that name"),
    ("[gone]\nwitness: w\ntier: T1\n", ":1: [gone]: it is no edit, and there is no file broken/gone.cu"),
    ("-  once();\n", ":1: no line of faults.txt"),
    (EDIT + "what: x\n", ":5: no line of faults.txt: what: x"),
    (EDIT + "kernel: naive\n", ":5: a second 'kernel:'"),
    (EDIT + EDIT, ":5: 'wrong' stands here twice"),
    (OTHER, ":2: no line of faults.txt: variant: V."),
    (IN + "-  one();\n", ":6: [wrong]: the lines stand nowhere in OP/inner.cuh: it has no line '  one();'"),
    (IN.replace("inner", "roomless") + "-once();\n", ":6: [wrong]: OP/small/led.cu includes no header 'roomless.cuh'"),
    (IN + "-  once();\n\nin: inner.cuh\n-}\n", ":8: a second 'in: inner.cuh'"),
    (IN + "-  once();\n" * 16, ":1: [wrong]: it takes away 16 lines, at most 15"),
    (
        IN.replace("inner", "open") + "-int open;\n",
        ":1: [wrong]: OP/open.cuh is part of the edit, so its namespace must begin with",
    ),
    ("[file]\nin: inner.cuh\nwitness: w\ntier: T1\n", ":2: no line of faults.txt: in: inner.cuh"),
)
OF_VARIANTS = (  # the same of variants.txt
    ("[other]\nkernel: naive\n", ":1: [other]: an edit has 'variant:'"),
    (OTHER + "tier: T1\n", ":6: no line of variants.txt: tier: T1"),
    (EDIT, ":2: no line of variants.txt: fault: f."),
    (OTHER + "+  two();\n" * 15, ":1: [other]: it adds 16 lines, at most 15; a larger one is a file of variants/"),
    (OTHER.replace("once", "one"), ":4: [other]: the lines stand nowhere"),
)
