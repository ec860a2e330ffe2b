#!/usr/bin/env python3
"""What the shells complete: the scripts say what --help says, and work in a shell."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from cdctest import CDCCTL, case, ctl, main, run_ctl

SHELLS = {"bash": ["bash", "--norc", "--noprofile"], "zsh": ["zsh", "-f"]}


def commands():
    """{command: [options]} as --help tells."""
    names = re.findall(r"^  ([a-z]+(?:-[a-z]+)*)  ", ctl("--help").decode(), re.MULTILINE)
    return {name: re.findall(r"^  (--[a-z-]+)", ctl(name, "--help").decode(), re.MULTILINE)
            for name in names}


def scripts(db):
    """{shell: file with its script}, where such a shell is."""
    found = {}
    for shell, name in (("bash", "cdcctl.bash"), ("zsh", "_cdcctl")):
        if shutil.which(shell):
            found[shell] = os.path.join(db.directory, name)
            with open(found[shell], "wb") as file:
                file.write(ctl("completion", shell))
    return found


def complete(db, *words):
    """What bash offers for the last of the words, as it splits them."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cdcctl;'
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", scripts(db)["bash"], *words], cwd=db.directory,
        capture_output=True, check=True,
        env={**os.environ, "PATH": os.path.dirname(CDCCTL) + ":" + os.environ["PATH"]})
    assert not done.stderr, done.stderr.decode()
    return [line for line in done.stdout.decode().split("\n") if line]


@case("every command and every option of --help is in both scripts")
def _(_):
    told = commands()
    assert len(told) > 25 and "completion" in told
    for shell in SHELLS:
        text = ctl("completion", shell).decode()
        for command, options in told.items():
            assert command in text, (shell, command)
            block = re.search(rf"^        {command}\)(.*?);;", text, re.MULTILINE | re.DOTALL)
            assert block, (shell, command)
            written = set(re.findall(r"(?<=['|])(--[a-z-]+)", block.group(1)))
            assert written == set(options), (shell, command, written ^ set(options))
    assert run_ctl("completion", "csh").returncode == 2


@case("the shells find nothing wrong with them")
def _(db):
    for shell, path in scripts(db).items():
        subprocess.run([*SHELLS[shell], "-n", path], check=True, capture_output=True)


OFFERS = (
    (("en",), ["enable-db", "enable-table"]),
    (("--v",), ["--version"]),
    (("enable-db", "--"), ["--set-wal", "--store", "--help"]),
    (("enable-db", "ap"), ["app.db"]),
    (("enable-table", "app.db", "t", "--mirror", ""), ["0", "1"]),
    (("status", "app.db", "--format", "=", "c"), ["csv"]),
    (("status", "app.db", "--format", "="), ["table", "csv", "jsonl"]),
    (("add-job", "app.db", ""), ["capture", "cleanup"]),
    (("add-job", "--store", "app.db-cdc", "app.db", "cl"), ["cleanup"]),
    (("add-job", "--store=x", "app.db", "cl"), ["cleanup"]),
    (("enable-table", "--all", "ap"), ["app.db"]),
    (("get-all-changes", "app.db", ""), ["main_t", "main_u"]),
    (("get-net-changes", "app.db", "main_u"), ["main_u"]),
    (("disable-table", "app.db", "t", "--capture-instance", "main_t"), ["main_t"]),
    (("get-all-changes", "app.db", "main_t", "--row-filter", "all u"), ["all\\ update\\ old"]),
    (("get-all-changes", "app.db", "main_t", "--row-filter", "'all u"), ["all update old"]),
    (("map-time-to-lsn", "app.db", "sm"),
     ["smallest\\ greater\\ than", "smallest\\ greater\\ than\\ or\\ equal"]),
    (("enable-table", "app.db", "t", "--role", "daemo"), ["daemon"]),
    (("agent", "app.db", "--log-level", "w"), ["warning"]),
    (("completion", ""), ["bash", "zsh"]),
    (("increment-lsn", ""), []),
    (("nothing", ""), []),
    (("get-all-changes", "nowhere.db", ""), []),
)


@case("in bash each place offers what can stand there")
def _(db):
    app = db.connect()
    for table in ("t", "u"):
        app.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY)")
    db.enable("t", "u")
    for words, offered in OFFERS:
        found = [word for word in complete(db, "cdcctl", *words) if "app.db-" not in word]
        assert sorted(found) == sorted(offered), (words, found)


class Terminal:
    """An interactive shell at a terminal of its own."""

    def __init__(self, shell, directory):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            environment = {**os.environ, "TERM": "dumb", "PS1": "$ ", "HOME": directory,
                           "PATH": os.path.dirname(CDCCTL) + ":" + os.environ["PATH"]}
            os.execvpe(shell, [*SHELLS[shell], "-i"], environment)
        self.seen = b""

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text.encode() not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} does not come: {self.seen[-2000:]!r}"
            if select.select([self.fd], [], [], left)[0]:
                self.seen += os.read(self.fd, 4096)
        self.seen = self.seen[self.seen.index(text.encode()) + len(text):]

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


SET_UP = {
    "bash": "source ./cdcctl.bash; echo is''ready\n",
    "zsh": "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; echo is''ready\n",
}


@case("a tab at the terminal completes a command, an option and a file")
def _(db):
    with open(os.path.join(db.directory, "single.file"), "w", encoding="ascii"):
        pass
    for shell in scripts(db):
        terminal = Terminal(shell, db.directory)
        try:
            terminal.send(SET_UP[shell])
            terminal.wait_for("isready")
            # The line is run with echo, which tells what came to stand on it.
            terminal.send("cdcctl() { echo \"<$*>\"; }\n")
            for typed, stands in (("get-col\t", "get-column-ordinal"),
                                  ("enable-db --set\t sing\t", "enable-db --set-wal single.file"),
                                  ("stat\tsing\t--form\tjso\t", "status single.file --format")):
                terminal.send("cdcctl " + typed + "\n")
                terminal.wait_for("<" + stands)
            terminal.send("exit\n")
        finally:
            terminal.close()


main()
