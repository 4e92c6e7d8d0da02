"""The shell scripts that run, launch, poll and end commands on a remote machine.

A command's processes are found by a mark in their environment, by session and group, and by descent, using /proc if
there is one.
"""

from collections.abc import Mapping
from shlex import quote
from string import Template
from typing import Final

from hermes_acp.workspaces.command_environment import HIJACK_VARIABLES
from hermes_acp.workspaces.processes.process_spawn import MARK

NOTICE: Final = "\036"
MAX_LOG_BLOCKS: Final = 16384
"""The limit on a launched command's stored output, in blocks of 512 bytes (1024 in some shells)."""

_UNSET: Final = " ".join(
    sorted(HIJACK_VARIABLES - {"SHELLOPTS", "BASHOPTS"})
)  # these variables are read-only in bash
_RUN: Final = Template(r"""
printf '\036%s began %s\036' $token "$$$$"
cd -P -- $cwd 2>/dev/null && [ "$$(pwd -P)" = $cwd ] || { printf '\036%s nowhere -\036' $token; exit 0; }
$recall
unset $unset
$exports
hermes_shell=$$(command -v bash) || hermes_shell=/bin/sh
"$$hermes_shell" -c $line </dev/null 2>&1
hermes_code=$$?
unset $variable
$left
$tell
printf '\036%s left %s\036' $token "$${hermes_seen:+some}"
printf '\036%s ended %s\036' $token "$$hermes_code"
""")
# During exec, a process's environment reads as empty, and its code starts at 0 in its row of `stat`, after a size that
# no kernel thread has. If this shell's own row looks like that too, the rows are useless. An exec may complete a moment
# later, or a child may replace its process. Environments are therefore read before and after, and the processes count
# as gone only if a second scan, of all that exist then, finds none either.
_OUTPUT: Final = Template(r"""
hermes_sights() {
    for hermes_look in first second; do
        hermes_seen=$$(grep -ls -e $mark -e ') [^ZX]\( [-0-9]*\)\{19\} [1-9][0-9]* [-0-9]* [0-9]* 0 ' \
            /proc/[0-9]*/environ /proc/[0-9]*/stat /proc/[0-9]*/environ 2>/dev/null)
        case $$hermes_seen in
            */environ*) ;;
            *"/proc/$$$$/stat"*) hermes_seen= ;;
        esac
        [ -z "$$hermes_seen" ] || break
    done
}
""")
_LEFTOVERS: Final = r"""
hermes_n=0
while hermes_sights; do
    case $hermes_seen in */environ* | '') break ;; esac
    hermes_n=$((hermes_n + 1))
    [ "$hermes_n" -le 8 ] || { hermes_seen=; break; }
    sleep 0.02 || sleep 1
done
"""
_RECALL: Final = Template("""[ -f $folder/env ] && . $folder/env
cd -P -- $cwd""")
_REPORT: Final = Template(
    r"""[ -f $folder/cwd ] && printf '\036%s stands %s\036' $token "$$(cat $folder/cwd)" """
)
# The POSIX shell itself saves its variables, so that it can read them whichever shell ran the command.
_KEEP: Final = Template(
    """trap 'umask 077; mkdir -p $folder && /bin/sh -c "export -p" >$folder/env.$$$$ """
    """&& mv -f $folder/env.$$$$ $folder/env; pwd -P >$folder/cwd' EXIT; """
)
_LAUNCH: Final = Template(r"""
cd -P -- $cwd 2>/dev/null && [ "$$(pwd -P)" = $cwd ] || { echo nowhere; exit 0; }
umask 077
d=$folder/$name
mkdir -p $folder && mkdir "$$d" && mkfifo "$$d/in" || { echo full; exit 0; }
umask 022
: >"$$d/out"
hermes_shell=$$(command -v bash) || hermes_shell=/bin/sh
hermes_line=$line
start() { "$$hermes_shell" -c "$$hermes_line"; }
$terminal
hermes_setsid=$$(command -v setsid)
(
    trap '' HUP
    unset $unset
    $exports
    sleep 2147483647 >"$$d/in" &
    keeper=$$!
    echo "$$keeper" >"$$d/keeper"
    { start <"$$d/in" 2>&1; echo "$$?" >"$$d/code"; } 3>&- | {
        (ulimit -f $blocks; trap '' XFSZ; exec cat >>"$$d/out")
        exec cat >/dev/null
    }
    kill "$$keeper"
) </dev/null >/dev/null 2>&1 &
echo "$$!" >"$$d/pid"
echo "began $$!"
""")
# util-linux, BusyBox and the BSDs have different versions of `script`; Python can open a terminal too.
_TERMINAL: Final = r"""
export TERM=xterm
if script -qefc true /dev/null </dev/null >/dev/null 2>&1; then
    start() { SHELL=$hermes_shell script -qefc "$hermes_line" /dev/null; }
elif python3 -c 'import pty' >/dev/null 2>&1; then
    start() {
        python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])) & 255)' \
            "$hermes_shell" -c "$hermes_line"
    }
elif script -q /dev/null true </dev/null >/dev/null 2>&1; then
    start() { script -q /dev/null "$hermes_shell" -c "$hermes_line"; }
else
    echo terminal
    exit 0
fi
"""
_POLL: Final = Template(r"""
d=$folder/$name
n=0
while :; do
    size=$$(wc -c <"$$d/out")
    code=$$(cat "$$d/code" 2>/dev/null)
    read -r pid <"$$d/pid"
    [ -n "$$code" ] || kill -0 "$$pid" 2>/dev/null || code=gone
    { [ "$$size" -gt $seen ] || [ -n "$$code" ] || [ "$$n" -ge $rounds ]; } && break
    n=$$((n + 1))
    sleep 0.1 || { sleep 1; n=$$((n + 9)); }
done
[ "$$n" -ge $rounds ] || sleep 0.15
size=$$(wc -c <"$$d/out")
new=$$((size - $seen))
echo "$$size $${code:-none}"
if [ "$$new" -gt $kept ]; then
    tail -c +$from "$$d/out" | head -c $half
    tail -c $half "$$d/out"
else
    tail -c +$from "$$d/out"
fi
""")
_WRITE: Final = Template(r"""
d=$folder/$name
read -r keeper <"$$d/keeper" && kill -0 "$$keeper" 2>/dev/null || { echo ended; exit 0; }
printf %b $text >"$$d/in"
[ -z $ends ] || kill "$$keeper"
""")
_KILL: Final = Template(r"""
mark=$mark
leader=$leader
known=' '
asked=' '
doubts=0
$sights
look() {
    found=' '
    for each in $$(grep -ls "$$mark" /proc/[0-9]*/environ 2>/dev/null); do
        each=$${each#/proc/}
        found="$$found$${each%/environ} "
    done
    table=
    for each in /proc/[0-9]*; do
        { read -r row <"$$each/stat"; } 2>/dev/null || continue
        case $$row in *')'*) ;; *) row=$$(cat "$$each/stat" 2>/dev/null) ;; esac
        set -- $${row##*) }
        pid=$${each#/proc/}
        case $$1 in Z | X) continue ;; esac
        [ "$$pid" = "$$$$" ] && continue
        shift
        parent=$$1 group=$$2 session=$$3
        shift 18
        table="$$table $$pid:$$parent"
        case $$known in *" $$pid:$$1 "*) found="$$found$$pid " ;; esac
        if [ "$$leader" -gt 0 ]; then
            case " $$pid $$group $$session " in *" $$leader "*) found="$$found$$pid " ;; esac
        fi
        eval "started_$$pid=$$1"
    done
    growing=yes
    while [ -n "$$growing" ]; do
        growing=
        for each in $$table; do
            case $$found in *" $${each%%:*} "*) continue ;; esac
            case $$found in *" $${each##*:} "*) found="$$found$${each%%:*} "; growing=yes ;; esac
        done
    done
    living=
    for each in $$found; do
        case "$$table " in *" $$each:"*) ;; *) continue ;; esac
        living="$$living $$each"
        eval "known=\"\$$known$$each:\$$started_$$each \""
    done
    hermes_seen=
    [ -n "$$living" ] || [ "$$doubts" -ge 8 ] || { hermes_sights; doubts=$$((doubts + 1)); }
}
ask() {
    fresh=
    for each in $$living; do
        case $$asked in *" $$each "*) ;; *) fresh="$$fresh $$each" asked="$$asked$$each " ;; esac
    done
    [ -z "$$fresh" ] || kill -s TERM $$fresh 2>/dev/null
}
if [ -d /proc/self ]; then
    look
    n=0
    while [ -n "$$living$$hermes_seen" ] && [ "$$n" -lt 10 ]; do
        ask
        sleep 0.05 || sleep 1
        look
        n=$$((n + 1))
    done
    n=0
    while [ -n "$$living$$hermes_seen" ] && [ "$$n" -lt 60 ]; do
        [ -z "$$living" ] || kill -s KILL $$living 2>/dev/null
        sleep 0.02 || sleep 1
        look
        n=$$((n + 1))
    done
    [ -z "$$living" ] && echo struck
elif [ "$$leader" -gt 0 ]; then
    kill -s TERM -- "-$$leader" 2>/dev/null && sleep 1
    kill -s KILL -- "-$$leader" 2>/dev/null
    kill -s KILL "$$leader" 2>/dev/null
    kill -s 0 -- "-$$leader" 2>/dev/null || echo struck
fi
""")


def run_script(token: str, line: str, cwd: str, variables: Mapping[str, str], memory: str = "") -> str:
    """Return the script that runs a command line in `cwd` and reports on it in notices with `token`.

    `variables` include its mark. `memory` is the folder for the state that a command passes on to the next one: its
    variables and its working directory.
    """
    folder = quote(memory)
    keeps = _KEEP.substitute(folder=folder) if memory else ""
    recalls = _RECALL.substitute(folder=folder, cwd=quote(cwd))
    return _RUN.substitute(
        token=token,
        cwd=quote(cwd),
        line=quote(keeps + line),
        exports=_exports(variables),
        unset=_UNSET,
        variable=MARK,
        left=_OUTPUT.substitute(mark=quote(f"{MARK}={variables[MARK]}")) + _LEFTOVERS,
        recall=recalls if memory else "",
        tell=_REPORT.substitute(folder=folder, token=token) if memory else "",
    )


def launch_script(
    folder: str, name: str, line: str, cwd: str, variables: Mapping[str, str], *, in_terminal: bool
) -> str:
    """Return the script that starts a command and leaves it running, with its files in `folder`/`name`."""
    return _LAUNCH.substitute(
        folder=quote(folder),
        name=name,
        line=quote(line),
        cwd=quote(cwd),
        unset=_UNSET,
        exports=_exports(variables),
        terminal=_TERMINAL if in_terminal else "",
        blocks=MAX_LOG_BLOCKS,
    )


def poll_script(folder: str, name: str, seen: int, wait_s: float, kept_bytes: int) -> str:
    """Return the script that waits for a launched command's output beyond `seen` bytes, and prints it.

    Its first output line contains the current size and the exit code: `none` while the command runs, `gone` if it is
    unknown.
    """
    return _POLL.substitute(
        folder=quote(folder),
        name=name,
        seen=seen,
        rounds=max(0, round(wait_s * 10)),
        kept=kept_bytes,
        half=kept_bytes // 2,
        **{"from": seen + 1},
    )


def write_script(folder: str, name: str, data: bytes, *, ends: bool) -> str:
    """Return the script that sends input to a launched command, and optionally ends its input."""
    text = "".join(f"\\0{byte:03o}" for byte in data)
    return _WRITE.substitute(
        folder=quote(folder), name=name, text=quote(text), ends=quote("yes" if ends else "")
    )


def kill_script(mark: str, leader: int = 0) -> str:
    """Return the script that kills the processes with a mark and those of a session leader, then prints `struck`."""
    wanted = quote(f"{MARK}={mark}")
    return _KILL.substitute(mark=wanted, leader=leader, sights=_OUTPUT.substitute(mark=wanted))


def _exports(variables: Mapping[str, str]) -> str:
    return "\n".join(f"export {name}={quote(value)}" for name, value in variables.items())
