# SPDX-License-Identifier: Apache-2.0
"""What Triton sees in place of a GPU: a driver, and a compiler that ends with PTX."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, Callable, Iterator, Sequence

import triton.backends
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime import autotuner
from triton.runtime.driver import driver

from . import machine
from . import triton as ours
from .errors import InputError
from .fresh import Fresh


def _lines_of_source(text: bytes) -> bytes:
    """The PTX, whose instructions of one piece of inline assembly have one line of the source, as Triton means it.

    LLVM counts on from there: it gives the second line of the assembly the next line of the source.
    """
    inside = False
    first = True
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        if b"// begin inline asm" in line:
            inside = first = True
        elif b"// end inline asm" in line:
            inside = False
        elif inside and line.lstrip().startswith(b".loc"):
            lines[number] = line if first else b""
            first = False
    return b"\n".join(lines)


class SimulatedBackend(CUDABackend):
    """The compiler for a GPU of NVIDIA, without its last step: the PTX is what runs."""

    def add_stages(self, stages: dict[str, Any], *arguments: Any) -> None:
        super().add_stages(stages, *arguments)
        stages["cubin"] = lambda source, metadata: source.encode()

    def hash(self) -> str:
        return f"assay-ptx-{self.target.arch}"  # Note: Triton's cache keeps its kernels apart from those with machine code by it


class Loaded:
    """A compiled kernel; its entry is decoded at the first launch."""

    def __init__(self, name: str, text: bytes) -> None:
        self.name, self._text = name, text
        self._entry: machine.Entry | None = None
        self.metadata: Any = None

    @property
    def entry(self) -> machine.Entry:
        """The decoded kernel.

        Raises:
            Refused: it has an instruction that the machine does not run.
        """
        if self._entry is None:
            self._entry = machine.Entry(_lines_of_source(self._text), self.name, f"{self.name}.ptx")
        return self._entry


class Launcher:
    """Launches a kernel; Triton makes one for each compilation."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._metadata = metadata
        self._signature = list(source.signature.values())
        if getattr(metadata, "tensordesc_meta", None):
            raise InputError(
                f"{metadata.name} takes tensor maps that the host makes, which the machine does not: simulate sm_80, or make the "
                "descriptors in the kernel"
            )
        self._names = list(getattr(source.fn, "arg_names", source.signature))

    def __call__(self, grid_x: int, grid_y: int, grid_z: int, stream: Any, function: Loaded, *others: Any) -> None:
        _, launch_metadata, enter, leave, *arguments = others
        function.metadata = self._metadata
        if enter is not None:
            enter(launch_metadata)
        ours.active().launch(function, (grid_x, grid_y, grid_z), self._signature, arguments, self._names)
        if leave is not None:
            leave(launch_metadata)


class SimulatedDriver(DriverBase):
    """The driver of the simulated machine; its methods are those of Triton's drivers."""

    launcher_cls = Launcher

    def __init__(self, arch: int) -> None:
        super().__init__()
        self._arch = arch
        properties = {
            "max_shared_mem": ours._SHARED[arch] * 1024,  # pylint: disable=protected-access
            "max_num_regs": 65536,
            "multiprocessor_count": ours.MULTIPROCESSORS,
            "warpSize": 32,
            "sm_clock_rate": 1000000,
            "mem_clock_rate": 1000000,
            "mem_bus_width": 1024,
        }
        self.utils = SimpleNamespace(
            load_binary=lambda name, text, shared, device: (Loaded(name, text), Loaded(name, text), 32, 0, 1024),
            unload_module=lambda module: None,
            get_device_properties=lambda device: dict(properties),
        )

    @classmethod
    def is_active(cls) -> bool:
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self._arch, 32)

    def get_current_device(self) -> str:
        return f"simulated sm_{self._arch}"  # Note: Triton keeps what it compiled by it

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any) -> int:
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return divmod(self._arch, 10)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        raise InputError("the simulated machine keeps no time")

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        raise InputError("the simulated machine keeps no time")

    def get_empty_cache_for_benchmark(self) -> Any:
        raise InputError("the simulated machine keeps no time")

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


@contextlib.contextmanager
def installed(arch: int) -> Iterator[None]:
    """Within, Triton compiles for the GPU and launches on the machine, and autotuned kernels take one configuration."""
    if getattr(triton, "knobs", None) and triton.knobs.runtime.interpret:
        raise InputError("TRITON_INTERPRET is set, so that Triton compiles nothing that could be simulated")
    known = triton.backends.backends
    kept = dict(vars(driver))
    nvidia, bench, run = known["nvidia"], autotuner.Autotuner._bench, autotuner.Autotuner.run
    known["nvidia"] = type(nvidia)(SimulatedBackend, nvidia.driver)
    driver.set_active(SimulatedDriver(arch))
    autotuner.Autotuner._bench = _chosen
    autotuner.Autotuner.run = _tuned(run)
    try:
        yield
    finally:
        autotuner.Autotuner._bench, autotuner.Autotuner.run = bench, run
        vars(driver).update(kept)
        known["nvidia"] = nvidia


def _chosen(self: Any, *args: Any, config: Any, **meta: Any) -> float:
    """In the place of a time: the first of the least is taken."""
    wanted = ours.active().config
    return 0.0 if _fits(wanted, config, self.configs) else 1.0


def _fits(wanted: str | int, config: Any, configs: Sequence[Any]) -> bool:
    if isinstance(wanted, int):
        return wanted == 0 or config is configs[wanted % len(configs)]
    words = {word.strip() for word in str(config).split(",")}
    return all(word.strip() in words for word in wanted.split(","))


def _tuned(run: Callable[..., Any]) -> Callable[..., Any]:
    def tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        wanted = ours.active().config
        if isinstance(wanted, str) and not any(_fits(wanted, config, self.configs) for config in self.configs):
            known = "; ".join(ours.configs(self))
            raise InputError(f"{getattr(self.base_fn, '__name__', 'the kernel')} has no configuration '{wanted}', but {known}")
        cache = self.cache
        self.cache = {}
        to_disk = getattr(self, "cache_results", False)
        self.cache_results = False
        try:
            return run(self, *args, **kwargs)
        finally:
            self.cache, self.cache_results = cache, to_disk

    return tuned


# --- torch ----------------------------------------------------------------------------------------------------------------

_EMPTY = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
_OUTSIDE = {"numpy", "__array__", "__dlpack__", "set_", "resize_"}  # after which writes are not seen


@contextlib.contextmanager
def allocations_seen(torch: Any, fresh: Fresh) -> Iterator[None]:
    """Within, tensors that torch allocates without writing them are known."""
    from torch.overrides import TorchFunctionMode

    data = torch.Tensor.data.__get__

    class Seen(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            name = getattr(function, "__name__", "")
            if name in _EMPTY and isinstance(result, torch.Tensor) and result.device.type == "cpu":
                storage = result.untyped_storage()
                fresh.add(storage, storage.data_ptr(), storage.nbytes())
            elif (name in _OUTSIDE or function == data) and args and isinstance(args[0], torch.Tensor):
                if args[0].layout == torch.strided and args[0].device.type == "cpu":
                    fresh.drop(args[0].untyped_storage().data_ptr())
            return result

    with Seen():
        yield
