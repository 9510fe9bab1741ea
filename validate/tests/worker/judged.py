# SPDX-License-Identifier: Apache-2.0
"""What the records of a run say of a kernel."""


def verdicts(kernel, cases):
    return {case["verdict"] for case in cases if case["kernel"] == kernel}


def outcomes(kernel, cases):
    """The verdicts of a kernel's cases, each with its reason, which is empty where nothing is wrong."""
    return {(case["verdict"], case.get("reason", "")) for case in cases if case["kernel"] == kernel}


def reasons(kernel, cases):
    return {reason for _, reason in outcomes(kernel, cases)}
