# SPDX-License-Identifier: Apache-2.0
"""A hostile program for hostile_test.py, started as a --worker.  Tries what no worker may do, and what each may, and says of each
attempt whether it was refused or done.  Nothing that succeeds does harm."""

import ctypes
import os
import resource
import socket
import subprocess
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
worker = os.getsid(0)  # the process that the judge started
judge = int(open(f"/proc/{worker}/stat").read().rpartition(")")[2].split()[1])


def tried(name, attempt):
    try:
        why_not = attempt()
    except PermissionError as e:
        why_not = e
    except OSError as e:  # it was not refused, but looked at
        return print(f"{name} done ({e})", file=sys.stderr)
    print(f"{name} refused ({why_not})" if why_not else f"{name} done", file=sys.stderr)


def called(*arguments):
    if libc.syscall(*(ctypes.c_long(a) for a in arguments)) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def opened(path, flags=os.O_WRONLY):
    os.close(os.open(path, flags))


def names_a_thread():
    """As the C library does for pthread_setname_np, which CUDA needs."""
    begun, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (begun.set(), over.wait()))
    thread.start()
    begun.wait()
    try:
        with open(f"/proc/self/task/{thread.native_id}/comm", "r+b", buffering=0) as name:
            name.write(b"named")
        with open(f"/proc/self/task/{thread.native_id}/comm") as name:
            return "" if name.read() == "named\n" else "it has another name"
    finally:
        over.set()
        thread.join()


def controls(control, argument):
    """Through a descriptor that only reads."""
    with open(os.environ["TMPDIR"] + "/own", "rb") as file:
        return called(16 if os.uname().machine == "x86_64" else 29, file.fileno(), control, ctypes.addressof(argument))


if sys.argv[1:] == ["child"]:
    tried("the name of a child's thread", names_a_thread)
    sys.exit()

# --- what a worker may
tried("own limit", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)))
tried("own limit by number", lambda: resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, 0)) and None)
tried("own affinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
tried("own affinity by number", lambda: os.sched_setaffinity(threading.get_native_id(), os.sched_getaffinity(0)))
tried("own priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)))
tried("the name of a thread", names_a_thread)
tried("a socket of this machine", lambda: socket.socket(socket.AF_UNIX).close())
tried("a file of its own", lambda: open(os.environ["TMPDIR"] + "/own", "w").close())
subprocess.run([sys.executable, __file__, "child"], check=True)

# --- what no worker may
print("--- the others", file=sys.stderr)
libc.prctl(15, f"Tgid:\t{judge}".encode())  # a name that would tell the judge another process
for what in ("NPROC", "AS", "NOFILE", "FSIZE", "DATA"):
    which = getattr(resource, "RLIMIT_" + what)
    tried(f"{what} of the judge", lambda: resource.prlimit(judge, which, resource.prlimit(judge, which)) and None)
tried("affinity of the judge", lambda: os.sched_setaffinity(judge, os.sched_getaffinity(judge)))
tried("scheduler of the judge", lambda: os.sched_setscheduler(judge, os.SCHED_BATCH, os.sched_param(0)))
tried("priority of the judge", lambda: os.setpriority(os.PRIO_PROCESS, judge, os.getpriority(os.PRIO_PROCESS, judge)))
tried("priority of a user", lambda: os.setpriority(os.PRIO_USER, 54321, 0))  # who has no process
tried("a signal to the judge", lambda: os.kill(judge, 0))
tried("a signal by descriptor", lambda: called(424, os.pidfd_open(judge), 0, 0, 0))
tried("a descriptor of the judge", lambda: called(438, os.pidfd_open(judge), 0, 0))
for file in ("oom_score_adj", "comm", "mem", "coredump_filter"):
    tried(f"{file} of the judge", lambda: opened(f"/proc/{judge}/{file}"))
tried("mem of the judge read", lambda: opened(f"/proc/{judge}/mem", os.O_RDONLY))
tried("environment of the judge", lambda: open(f"/proc/{judge}/environ", "rb").read(1) and None)
tried("own oom_score_adj", lambda: opened("/proc/self/oom_score_adj"))
tried("the name of a program elsewhere", lambda: opened("/proc/1/comm"))
for file in ("sys/kernel/core_pattern", "sys/kernel/hostname"):
    tried(file, lambda: opened("/proc/" + file))
none = ctypes.create_string_buffer(64)
for name, control in {
    "SETFLAGS": 0x40086602,
    "FSSETXATTR": 0x401C5820,
    "FITRIM": 0xC0185879,
    "ENABLE_VERITY": 0x40806685,
}.items():
    tried(name, lambda: controls(control, none))
for name in ("AF_INET", "AF_INET6", "AF_VSOCK", "AF_ALG"):
    tried(name, lambda: socket.socket(getattr(socket, name), socket.SOCK_DGRAM).close())
tried("namespaces", lambda: called(272 if os.uname().machine == "x86_64" else 97, 0x10000000))
tried("io_uring", lambda: called(425, 1, ctypes.addressof(ctypes.create_string_buffer(256))))
for secret in ("GITHUB_TOKEN", "CI_JOB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NVIDIA_API_KEY", "UNHEARD_OF", "CI_FLAG"):
    tried(secret, lambda: "" if secret in os.environ else "it is not there")
sys.exit(1)
