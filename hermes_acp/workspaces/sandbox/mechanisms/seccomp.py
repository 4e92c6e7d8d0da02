"""Build seccomp system call filters: classic BPF over `struct seccomp_data` (seccomp(2)).

Filters refuse calls instead of killing the program, so programs can continue without them.
"""

import errno
import struct
import sys
from collections.abc import Mapping, Sequence
from platform import machine
from types import MappingProxyType
from typing import Final

from msgspec import Struct

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_ABOVE: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_MASK: Final = 0x54  # BPF_ALU | BPF_AND | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000
_KILL: Final = 0x80000000
_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_ARGUMENTS_AT: Final = 16

_NAMESPACES: Final = 0x7E020080  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
_THREAD: Final = 0x00010000  # CLONE_THREAD
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_KIND_OF_SOCKET: Final = 0xF
_CONNECTED_KINDS: Final = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET
LOCAL: Final = 1
INTERNET: Final = (2, 10)
NETLINK: Final = 16

# The call numbers on x86-64 and on aarch64, or None if the architecture lacks the call.
_REFUSED: Final[Mapping[str, tuple[int | None, int | None]]] = MappingProxyType(
    {
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
        "pidfd_getfd": (438, 438), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
        "chroot": (161, 51),
        "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
        "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "setns": (308, 268),
        "open_tree_attr": (467, 467),
        "bpf": (321, 280),
        "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
        "keyctl": (250, 219), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
        "finit_module": (313, 273), "delete_module": (176, 106), "swapon": (167, 224), "swapoff": (168, 225),
        "reboot": (169, 142), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
        "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
        "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None),
        "syslog": (103, 116), "open_by_handle_at": (304, 265), "vhangup": (153, 58), "uselib": (134, None),
        "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
        "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42),
    }
)  # fmt: skip

_IPC: Final[Mapping[str, tuple[int | None, int | None]]] = MappingProxyType(
    {
        "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
        "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
        "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    }
)  # fmt: skip
_METADATA: Final[Mapping[str, tuple[int | None, int | None]]] = MappingProxyType(
    {
        "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
        "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
        "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
        "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
        "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    }
)  # fmt: skip
_OPENAT2: Final = 437
_OF_OTHERS: Final = 0o6000  # S_ISUID, S_ISGID: such a file runs with its owner's or group's rights
# The calls that set a mode, each with the index of the mode argument; call numbers for both architectures as above.
_MODES: Final = (
    ((2, None), 2), ((85, None), 1), ((257, 56), 3), ((90, None), 1), ((91, 52), 1), ((268, 53), 2),
    ((452, 452), 2), ((133, None), 1), ((259, 33), 2),
)  # fmt: skip


# The calls that change how processes are scheduled, each with the index of the argument that names the process.
_PRIORITIES: Final = (
    ((141, 140), 1), ((251, 30), 1), ((142, 118), 0), ((144, 119), 0), ((203, 122), 0), ((314, 274), 0),
    ((256, 238), 0), ((279, 239), 0),
)  # fmt: skip


class _Architecture(Struct, frozen=True):
    audit: int
    column: int
    socket: int
    socketpair: int
    clone: int
    clone3: int
    unshare: int
    ioctl: int
    prlimit: int
    programs: tuple[int, ...]
    has_second_table: bool = False


_ARCHITECTURES: Final = MappingProxyType(
    {
        "x86_64": _Architecture(
            0xC000003E, 0, 41, 53, 56, 435, 272, 16, 302, (57, 58, 59, 322), has_second_table=True
        ),
        "aarch64": _Architecture(0xC00000B7, 1, 198, 199, 220, 435, 97, 29, 261, (221, 281)),
    }
)


def supports_filters() -> bool:
    """Return whether filters can be built for this machine's architecture."""
    return machine() in _ARCHITECTURES and sys.byteorder == "little"


def socket_families(*, has_network: bool, is_read_only: bool, mounts: bool) -> tuple[int, ...]:
    """Return the allowed socket families, without local ones on the machine's network, where abstract sockets exist.

    Mounts cannot keep a command away from local sockets in the workspace, so a read-only command may not create any. A
    command without `mounts` does not have a separate network either.
    """
    if is_read_only:
        return (*INTERNET, NETLINK) if mounts else ()
    if has_network:
        return (*INTERNET, NETLINK)
    return (LOCAL, *INTERNET, NETLINK) if mounts else ()


def build_filter(sockets: Sequence[int], *, shares_ipc: bool = False, keeps_metadata: bool = False) -> bytes:
    """Return a filter that allows only the given socket families and forbids namespaces and tracing.

    No file can be made setuid or setgid. A command that `shares_ipc` with the machine gets no System V IPC
    and no message queues, and changes no other process's priority. With `keeps_metadata`, it cannot change
    any file's mode, owner, times or attributes.
    """
    place = _ARCHITECTURES[machine()]
    program = [
        _word(_LOAD, _ARCHITECTURE_AT),
        _word(_EQUAL, place.audit, 1, 0),
        _word(_RETURN, _KILL),
        _word(_LOAD, _NUMBER_AT),
    ]
    if place.has_second_table:  # the same calls with 32-bit pointers, numbered separately
        program += [_word(_ABOVE, 0x40000000, 0, 1), _refusal(errno.ENOSYS)]
    refused = [*_REFUSED.values()]
    refused += _IPC.values() if shares_ipc else ()
    refused += _METADATA.values() if keeps_metadata else ()
    for numbers in refused:
        if (number := numbers[place.column]) is not None:
            program += [_word(_EQUAL, number, 0, 1), _refusal(errno.EPERM)]
    # These pass their flags by pointer, which no filter can read; without them, programs fall back to the older calls.
    for call in (place.clone3, _OPENAT2):
        program += [_word(_EQUAL, call, 0, 1), _refusal(errno.ENOSYS)]
    for calls, argument in _MODES:
        if (call := calls[place.column]) is not None:
            program += _argument_rule((call,), argument, (), (_OF_OTHERS,))
    program += _argument_rule((place.clone, place.unshare), 0, (), (_NAMESPACES,))
    program += _argument_rule((place.ioctl,), 1, _TERMINAL_REQUESTS, ())
    program += _own_rule(place.prlimit)
    for calls, argument in _PRIORITIES if shares_ipc else ():
        program += _own_rule(calls[place.column], argument)
    program += _socket_rule(place.socket, sockets)
    program += _socket_rule(place.socketpair, sockets, is_pair=True)
    program.append(_word(_RETURN, _ALLOW))
    return b"".join(program)


def exec_filter() -> bytes:
    """Return a filter that allows threads but no new processes and no exec, to be loaded on top of the other one."""
    place = _ARCHITECTURES[machine()]
    program = [_word(_LOAD, _NUMBER_AT)]
    for number in place.programs:
        program += [_word(_EQUAL, number, 0, 1), _refusal(errno.EPERM)]
    of_threads = [
        _word(_LOAD, _ARGUMENTS_AT),
        _word(_ANY_BIT, _THREAD, 1, 0),
        _refusal(errno.EPERM),
        _word(_RETURN, _ALLOW),
    ]
    program += [_word(_EQUAL, place.clone, 0, len(of_threads)), *of_threads]
    program.append(_word(_RETURN, _ALLOW))
    return b"".join(program)


def _argument_rule(
    calls: Sequence[int], argument: int, values: Sequence[int], bits: Sequence[int]
) -> list[bytes]:
    """Refuse calls in which the lower half of an argument equals one of these values or has one of these bits set."""
    rule: list[bytes] = []
    for call in calls:
        body = [_word(_LOAD, _ARGUMENTS_AT + 8 * argument)]
        for value in values:
            body += [_word(_EQUAL, value, 0, 1), _refusal(errno.EPERM)]
        for each in bits:
            body += [_word(_ANY_BIT, each, 0, 1), _refusal(errno.EPERM)]
        body.append(_word(_RETURN, _ALLOW))
        rule += [_word(_EQUAL, call, 0, len(body)), *body]
    return rule


def _own_rule(call: int, argument: int = 0) -> list[bytes]:
    """Refuse a call that names any process except as 0 (the caller), even if it uses the caller's own ID."""
    body = [
        _word(_LOAD, _ARGUMENTS_AT + 8 * argument),
        _word(_EQUAL, 0, 1, 0),
        _refusal(errno.EPERM),
        _word(_RETURN, _ALLOW),
    ]
    return [_word(_EQUAL, call, 0, len(body)), *body]


def _socket_rule(call: int, families: Sequence[int], *, is_pair: bool = False) -> list[bytes]:
    """Refuse sockets of other families, and local socket pairs that could later send to an address."""
    body = [_word(_LOAD, _ARGUMENTS_AT)]
    for family in families:
        body += [_word(_EQUAL, family, 0, 1), _word(_RETURN, _ALLOW)]
    if is_pair:
        kinds = [_word(_LOAD, _ARGUMENTS_AT + 8), _word(_MASK, _KIND_OF_SOCKET)]
        for kind in _CONNECTED_KINDS:
            kinds += [_word(_EQUAL, kind, 0, 1), _word(_RETURN, _ALLOW)]
        body += [_word(_EQUAL, LOCAL, 0, len(kinds)), *kinds]
    body.append(_refusal(errno.EAFNOSUPPORT))
    return [_word(_EQUAL, call, 0, len(body)), *body]


def _refusal(number: int) -> bytes:
    return _word(_RETURN, _REFUSE | number)


def _word(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
