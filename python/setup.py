# SPDX-License-Identifier: Apache-2.0
"""Puts the built program, what it is linked with and its datasets into the wheel, which therefore is for one kind of machine.

ASSAY_VALIDATE names the program; by default it is that of ../build.  The wheel's tag has the glibc that these files need, so that
pip refuses the wheel where glibc is older.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("ASSAY_VALIDATE", ROOT / "build/bin/validate"))
OF_EVERY_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[^.]*)\.so")


class BuildWithProgram(build_py):
    def run(self) -> None:
        super().run()
        if not PROGRAM.exists():
            raise SystemExit(f"there is no program '{PROGRAM}'; 'make validate' builds it, or ASSAY_VALIDATE names another")
        package = Path(self.build_lib) / "assay"
        programs = package / "bin"  # the program looks for what it is linked with beside itself
        programs.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROGRAM, programs / "validate")
        shutil.copy2(PROGRAM.parent / "libassay_ptx.so", programs)
        kernels = PROGRAM.parent / "libassay_kernels.so"
        if kernels.exists():  # of a build with nvcc
            shutil.copy2(kernels, programs)
        for line in subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
            found = re.match(r"\s*(\S+) => (/\S+)", line)
            if found and not OF_EVERY_SYSTEM.match(found[1]):
                shutil.copy2(found[2], programs / found[1], follow_symlinks=True)
        for file in programs.iterdir():
            subprocess.run(["strip", "--strip-unneeded", file], check=True)
        datasets = package / "share/assay/datasets"
        shutil.rmtree(datasets, ignore_errors=True)
        shutil.copytree(ROOT / "datasets", datasets, ignore=shutil.ignore_patterns("captured"))
        shutil.copy2(ROOT / "LICENSE", package / "LICENSE")


class WheelOfMachine(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        programs = Path(self.get_finalized_command("build_py").build_lib) / "assay/bin"
        major, minor = needed_glibc(programs)
        return "py3", "none", f"manylinux_{major}_{minor}_{os.uname().machine}"


def needed_glibc(programs: Path) -> tuple[int, int]:
    """The newest glibc that a symbol of one of these files asks for."""
    said = subprocess.run(["objdump", "-p", *programs.iterdir()], capture_output=True, text=True, check=True).stdout
    asked = re.findall(r"\bGLIBC_(\d+)\.(\d+)", said)
    if not asked:
        raise SystemExit(f"the programs in '{programs}' ask for no glibc, and Assay runs on no other C library")
    return max((int(major), int(minor)) for major, minor in asked)


setup(cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelOfMachine})
