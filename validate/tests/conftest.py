# SPDX-License-Identifier: Apache-2.0
"""What the tests by pytest share.  Each file's tests have one working folder, which is empty at first and removed at the end.

    python3 -m pytest validate/tests/command/probe_test.py [--binaries build/bin] [--plugins build/plugins] [--compiler gcc]

cmake/tests/pytest.sh calls it for ctest.  If every test of a file is skipped, or one by skip_file(), the exit code is 77."""
import os
import shutil
import tempfile
from pathlib import Path

import pytest

pytest.register_assert_rewrite("command_line")
import command_line  # noqa: E402
from command_line import SOURCES, OverSet, Program  # noqa: E402

SKIPPED = 77
# Scripts, which ctest runs by themselves.
collect_ignore = [path for path in Path(__file__).parent.glob("*/*_test.py") if path.read_text().startswith("#!")]


def pytest_addoption(parser):
    group = parser.getgroup("assay")
    group.addoption("--binaries", default=SOURCES / "build/bin", help="the folder of the programs (build/bin)")
    group.addoption(
        "--plugins", dest="folder_of_plugins", help="the folder of the plugins (the folder `plugins` beside that of the programs)"
    )
    group.addoption("--compiler", help="a C compiler (gcc or cc)")
    group.addoption("--kills", type=int, default=15, help="how often command/kills_test.py kills a run (15)")
    group.addoption("--seed", type=int, help="of what command/kills_test.py draws")
    group.addoption("--screenshots", metavar="FOLDER", help="where pictures of the report's page go (report_test.py)")
    group.addoption("--ptx-build", nargs=2, metavar=("CMAKE", "BUILD"), help="what makes PTX by nvcc (ptx_backend_test.py)")
    group.addoption("--hostile-on", default="simt", choices=("simt", "cuda"), help="where hostile kernels run (hostile_test.py)")


@pytest.fixture(scope="session")
def binaries(pytestconfig):
    """The folder of the programs."""
    return Path(pytestconfig.getoption("--binaries")).resolve(strict=True)


@pytest.fixture(scope="session")
def plugins(pytestconfig, binaries):
    """The folder of the plugins."""
    return Path(pytestconfig.getoption("folder_of_plugins") or binaries.parent / "plugins").resolve(strict=True)


@pytest.fixture(scope="session")
def compiler(pytestconfig):
    """A C compiler, as a plugin's author has one."""
    found = pytestconfig.getoption("--compiler") or shutil.which("gcc") or shutil.which("cc")
    if not found:
        pytest.skip("no C compiler is here")
    return found


@pytest.fixture(scope="session")
def validate(binaries):
    return Program(binaries / "validate")


@pytest.fixture(scope="session")
def trial(binaries):
    """The program over the set with broken kernels."""
    return OverSet("trial", binaries / "validate")


@pytest.fixture(scope="session")
def hostile(binaries):
    """The program over the set with kernels that misbehave."""
    return OverSet("hostile", binaries / "validate")


@pytest.fixture(scope="session")
def screenshots(pytestconfig):
    return pytestconfig.getoption("--screenshots")


@pytest.fixture(scope="session")
def cuda_works(validate):
    """Whether there is a GPU that the command can use."""
    said = validate("list backends")
    return not any(line.split()[:3] == ["cuda", "not", "usable"] for line in said.out.splitlines())


@pytest.fixture(scope="session")
def without_gpu(cuda_works):
    """Skips a test of what is said where there is no GPU."""
    if cuda_works:
        pytest.skip("there is a GPU")


@pytest.fixture(scope="module", autouse=True)
def folder():
    """The working folder of a file's tests."""
    before = os.getcwd()
    path = Path(tempfile.mkdtemp(prefix="assay-test-")).resolve()
    os.chdir(path)
    yield path
    os.chdir(before)
    for inside, folders, _ in os.walk(path):
        for name in folders:
            os.chmod(os.path.join(inside, name), 0o700)
    shutil.rmtree(path)


@pytest.fixture
def empty_folder(folder):
    """A working folder of a test's own."""
    path = Path(tempfile.mkdtemp(dir=folder))
    os.chdir(path)
    yield path
    os.chdir(folder)


def pytest_runtest_logstart():
    command_line.calls.clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    """A failure shows the last command besides what was expected and what came."""
    report = (yield).get_result()
    if report.failed and command_line.calls:
        report.sections.append(("the last command", str(command_line.calls[-1])))


def pytest_terminal_summary(terminalreporter):
    if command_line.refusals:
        terminalreporter.write_line(f"{len(command_line.refusals)} wrong inputs refused")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Tells ctest that a file was skipped: all of its tests were, or the file itself."""
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    fine = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if fine and (command_line.unchecked or stats.get("skipped") and not stats.get("passed")):
        session.exitstatus = SKIPPED
