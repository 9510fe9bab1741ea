#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a build for a GPU takes CUDA's headers from the toolkit that CMake found, and from nowhere else.

  cuda_headers.py SOURCE BUILD CMAKE [-DNAME=VALUE...]               checks every C++ file that includes a header of CUDA
  cuda_headers.py --self-test SOURCE BUILD CMAKE [-DNAME=VALUE...]   checks that a target without the toolkit's folder is found out

A machine may have copies of CUDA's headers in a folder that every compiler searches.  There a target that lacks the toolkit's
folder compiles all the same, and fails elsewhere.  So the tree is configured for a GPU in BUILD, and the compilers list what each
file includes; nothing is compiled.  It needs nvcc, but no GPU.
"""
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

OF_CUDA = re.compile(r"#\s*include\s*<(cuda|cublas|cupti|nvml|nvrtc|cub/|thrust/)")
INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')
ROOMS = ("cuda", "examples", "include", "ops", "reference", "simt", "validate")


def configured(source, build, cmake, flags):
    """The compile commands of a build for a GPU, each file by itself, and the toolkit's include folders."""
    command = [cmake, "-S", source, "-B", build, "--log-level=WARNING", "-DASSAY_CUDA=ON", "-DASSAY_UNITY=OFF", *flags]
    subprocess.run(command, check=True)
    with open(os.path.join(build, "compile_commands.json")) as file:
        commands = json.load(file)
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        folders = re.search(r"^ASSAY_CUDA_INCLUDE_DIRS:INTERNAL=(.*)$", file.read(), re.MULTILINE)
    return commands, [os.path.abspath(folder) for folder in folders[1].split(";")]


def including_cuda(source):
    """The files of the tree that include a header of CUDA, directly or through others."""
    texts = {}
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(source, room)):
            for name in names:
                if name.endswith((".cpp", ".hpp", ".cu", ".cuh", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as file:
                        texts[path] = file.read()
    found = {path for path, text in texts.items() if OF_CUDA.search(text)}
    grown = True
    while grown:
        ends = tuple(found)
        new = {
            path
            for path, text in texts.items()
            if path not in found and any(end.endswith("/" + name) for name in INCLUDE.findall(text) for end in ends)
        }
        grown = bool(new)
        found |= new
    return found


def of_host(entry, found):
    """Whether the C++ compiler compiles this file, and it may include CUDA; of generated files only those that are there."""
    path = os.path.abspath(os.path.join(entry["directory"], entry["file"]))
    return path.endswith(".cpp") and (path in found or ("/generated/" in path and os.path.exists(path)))


def wrong_header(entry, folders, names, without=()):
    """What is wrong with the headers that the file of a compile command includes; `without`: folders of the command to leave out."""
    words = shlex.split(entry["command"])
    kept = []
    output = ""
    while words:
        word = words.pop(0)
        if word == "-o":
            output = words.pop(0)
        elif word == "-isystem" and os.path.abspath(words[0]) in without:
            words.pop(0)
        elif word != "-c":
            kept.append(word)
    made = subprocess.run([*kept, "-M"], cwd=entry["directory"], capture_output=True, text=True)
    if made.returncode:
        return f"{output}: {made.stderr.strip().splitlines()[0]}"
    headers = [os.path.normpath(path) for path in made.stdout.replace("\\\n", " ").split()[1:]]
    outside = [
        path
        for path in headers
        if os.path.basename(path) in names and not path.startswith(tuple(folder + os.sep for folder in folders))
    ]
    return f"{output} takes {outside[0]}, which is not of {folders[0]}" if outside else ""


def main():
    arguments = sys.argv[1:]
    self_test = arguments[:1] == ["--self-test"]
    source, build, cmake, *flags = arguments[1:] if self_test else arguments
    source = os.path.abspath(source)
    commands, folders = configured(source, build, cmake, flags)
    names = {name for folder in folders for name in os.listdir(folder) if name.endswith(".h")}
    found = including_cuda(source)
    entries = [entry for entry in commands if of_host(entry, found)]
    if self_test:
        entry = next(e for e in entries if "assay_worker.dir" in e["command"] and e["file"].endswith("/cuda.cpp"))
        objection = wrong_header(entry, folders, names)
        if objection:
            sys.exit(f"the sound target is objected to: {objection}")
        if not wrong_header(entry, folders, names, without=folders):
            sys.exit("assay_worker without the toolkit's folder is not found out")
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = list(filter(None, pool.map(lambda entry: wrong_header(entry, folders, names), entries)))
    for line in wrong:
        print(line)
    if wrong or not entries:
        sys.exit(f"{len(wrong)} of {len(entries)} files do not take CUDA's headers from the toolkit")
    print(f"{len(entries)} files take CUDA's headers from {', '.join(folders)}")


main()
