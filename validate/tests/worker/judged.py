# SPDX-License-Identifier: Apache-2.0
"""What the records of a run say of a kernel."""
from command_line import of_kind, records


def whole_run(path):
    """The cases of a run that came to its end; no record is lost."""
    found = records(path)
    ends = [end["interrupted"] for end in of_kind("end", found)]
    assert ends == [False], f"{path}: one end of a run that was not interrupted was expected"
    return of_kind("case", found)


def verdicts(kernel, cases):
    return {case["verdict"] for case in cases if case["kernel"] == kernel}


def outcomes(kernel, cases):
    """The verdicts of a kernel's cases, each with its reason, which is empty where nothing is wrong."""
    return {(case["verdict"], case.get("reason", "")) for case in cases if case["kernel"] == kernel}


def outcome(kernel, cases):
    """The verdict of all of a kernel's cases, and their reason."""
    found = outcomes(kernel, cases)
    assert len(found) == 1, f"one verdict and one reason of {kernel} were expected: {sorted(found)}"
    return found.pop()


def reasons(kernel, cases):
    return {reason for _, reason in outcomes(kernel, cases)}
