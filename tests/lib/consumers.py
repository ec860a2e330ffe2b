"""The programs that read a mount in the field, run by tests; and the recipes of the manual.

    rows = duckdb("SELECT * FROM read_csv('…')")     list of {column: value}
    with Postgres(db) as postgres:
        postgres.sql("SELECT 1")                     what psql prints, unaligned
    text = recipe("rsync", {"/mnt/shop": path})      as it stands in cdcfs-recipes(7)

What is not installed makes a case skip.
"""
import glob
import json
import os
import pwd
import re
import shutil
import subprocess

from cdctest import BUILD, Skip, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = os.environ.get("CDC_NODE_MODULES",
                         os.path.join(os.path.dirname(BUILD), "npm", "node_modules"))
PYTHON = "/usr/bin/python3"  # the one that the distribution's modules belong to


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not here")


def need_module(name):
    """A module of the distribution's Python."""
    if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True,
                      check=False).returncode:
        raise Skip(f"{PYTHON} has no {name}")


def shell(script, **options):
    """Standard output of a script of bash in which nothing may fail."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False, **options)
    assert done.returncode == 0, f"{script}\n{done.stderr.decode(errors='replace')}"
    return done.stdout


# ---- DuckDB ----

def duckdb(*statements):
    """Rows of the last statement; 64-bit integers, LSNs and the like come as text."""
    need("node")
    if not os.path.isdir(os.path.join(MODULES, "@duckdb", "node-api")):
        raise Skip("the npm package @duckdb/node-api is not here")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb_run.cjs")
    done = subprocess.run(["node", script], input=json.dumps(statements).encode(),
                          capture_output=True, timeout=300, check=False,
                          env={**os.environ, "NODE_PATH": MODULES})
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


# ---- PostgreSQL ----

class Postgres:
    """A cluster of its own below db.directory, reached through a socket there."""

    def __init__(self, db):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not found:
            raise Skip("PostgreSQL is not here")
        need("psql")
        self.bin = os.path.dirname(found[-1])
        self.directory = os.path.join(db.directory, "postgres")
        os.chmod(db.directory, 0o755)
        os.mkdir(self.directory, 0o700)
        self.options = {}
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                raise Skip("there is no user postgres") from None
            os.chown(self.directory, user.pw_uid, user.pw_gid)
            self.options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.process = None

    def __enter__(self):
        data = os.path.join(self.directory, "data")
        self.log = open(os.path.join(self.directory, "log"), "wb")
        subprocess.run([os.path.join(self.bin, "initdb"), "-D", data, "-U", "postgres", "-A",
                        "trust", "-E", "UTF8", "--locale=C", "--no-sync"], check=True, timeout=120,
                       stdout=self.log, stderr=self.log, cwd=self.directory, **self.options)
        self.process = subprocess.Popen(
            [os.path.join(self.bin, "postgres"), "-D", data, "-k", self.directory, "-c",
             "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB"],
            stdout=self.log, stderr=self.log, cwd=self.directory, **self.options)
        try:
            wait_until(self.answers, 60, "a PostgreSQL that answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.log.close()

    def environment(self):
        """For psql."""
        return {**os.environ, "PGHOST": self.directory, "PGUSER": "postgres",
                "PGDATABASE": "postgres", "PGOPTIONS": "-c client_min_messages=warning"}

    def answers(self):
        assert self.process.poll() is None, "PostgreSQL ended"
        return subprocess.run(["psql", "-Atqc", "SELECT 1"], env=self.environment(),
                              capture_output=True, check=False).returncode == 0

    def sql(self, text):
        done = subprocess.run(["psql", "-v", "ON_ERROR_STOP=1", "-XAtq"], input=text.encode(),
                              env=self.environment(), capture_output=True, timeout=120,
                              check=False)
        assert done.returncode == 0, f"{text}\n{done.stderr.decode(errors='replace')}"
        return done.stdout.decode()


# ---- the manual ----

def plain(line):
    """A line of a display of mdoc as it is printed."""
    for escape, character in (("\\&", ""), ("\\(dq", '"'), ("\\-", "-"), ("\\e", "\\")):
        line = line.replace(escape, character)
    return line


def recipes():
    """{name: text} of every display of cdcfs-recipes(7) that has a name."""
    with open(os.path.join(ROOT, "fs", "cdcfs-recipes.7"), encoding="utf-8") as page:
        found = re.findall(r'^\.\\" recipe: (\S+)\n\.Bd .*\n((?:(?!\.Ed).*\n)*)\.Ed$', page.read(),
                           re.M)
    return {name: "\n".join(plain(line) for line in text.splitlines()) + "\n"
            for name, text in found}


def recipe(name, places):
    text = recipes()[name]
    for place, path in places.items():
        text = text.replace(place, path)
    return text


def commands(text):
    """The commands of a session that a recipe shows, without prompts."""
    return "".join(re.sub(r"^[$>] ", "", line) + "\n" for line in text.splitlines())
