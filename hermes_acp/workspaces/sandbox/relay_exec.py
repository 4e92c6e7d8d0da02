"""Run a command in a sandbox without a network, with a local relay to the proxy.

The interpreter runs this file and imports nothing else: `python -I -S relay_exec.py SOCKET PROGRAM …`. The
file runs the program with variables that name the relay, forwards data to the proxy's socket, and exits as
the program does.
"""

import os
import select
import signal
import socket
import sys
import threading

CHUNK_BYTES = 65536
ENV = "/usr/bin/env"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


def serve(listening: socket.socket, path: str) -> None:
    """Accept connections forever."""
    while True:
        visitor, _ = listening.accept()
        threading.Thread(target=pass_on, args=(visitor, path), daemon=True).start()


def pass_on(visitor: socket.socket, path: str) -> None:
    """Relay data between a client and the proxy until both are done."""
    with visitor, socket.socket(socket.AF_UNIX) as proxy:
        try:
            proxy.connect(path)
            speakers = [visitor, proxy]
            while speakers:
                for speaker in select.select(speakers, [], [])[0]:
                    listener = proxy if speaker is visitor else visitor
                    piece = speaker.recv(CHUNK_BYTES)
                    if piece:
                        listener.sendall(piece)
                    else:
                        speakers.remove(speaker)
                        listener.shutdown(socket.SHUT_WR)
        except OSError:
            return


def main(path: str, *command: str) -> None:
    """Run the command alongside the relay."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    variables = [f"{name}={address}" for name in NAMES] + ["NO_PROXY=localhost,127.0.0.1"]
    child = os.fork()
    if child == 0:
        for each in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
        ):  # an interpreter ignores these signals, and a child inherits that
            signal.signal(each, signal.SIG_DFL)
        try:
            os.execv(ENV, (ENV, *variables, *command))
        except OSError as error:
            os.write(2, f"hermes-acp: {ENV}: {error.strerror}\n".encode())
        os._exit(126)
    for each in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(each, signal.SIG_IGN)
    threading.Thread(target=serve, args=(listening, path), daemon=True).start()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main(*sys.argv[1:])
