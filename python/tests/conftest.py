# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((33, 65)).astype(np.float32)
