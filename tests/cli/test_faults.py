"""The commands under bad names, odd files and signals: one line, and nothing left over."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.command_line import N, two_groups

from beltrami.cli.__main__ import INTERRUPTED, TERMINATED
from beltrami.cli.targets import folder_target, map_target, page_target, table_target
from beltrami.core.errors import InvalidInputError

pytestmark = pytest.mark.usefixtures("few_trees")


def table(first="a", second="b", column="x"):
    return two_groups(lambda i: (first, second)[i % 2] if i < 12 else "", column=column)


def test_escapes_in_names_do_not_reach_the_terminal(run):
    Path("data.csv").write_text(table("\x1b[31mred", "\x9bblue", "\x1b]0;t\x07"), encoding="utf-8")
    out = run("check", "data.csv")
    assert r"\u001b[31mred 6" in out
    assert r"\u009bblue 6" in out
    assert r"\u001b]0;t\u0007" in run.err
    assert not set("\x1b\x9b\x07") & set(out + run.err)
    found = run("check", "data.csv", "--json", "--quiet")
    assert "\x9b" not in found
    assert json.loads(found)["class_counts"] == {"\x1b[31mred": 6, "\x9bblue": 6}
    run("label", "\x1b[31mdata.csv", code=1)
    assert "\x1b" not in run.err


def test_class_names_between_dollars_are_drawn(run):
    Path("data.csv").write_text(table(r"$\frac$", "_b"), encoding="utf-8")
    assert run("map", "data.csv").startswith("40 rows drawn")


def test_labels_that_a_spreadsheet_would_run_are_kept_and_announced(run):
    Path("data.csv").write_text(table("=1+1", "-1"), encoding="utf-8")
    run("label", "data.csv", "--method", "neighbors")
    assert "warning: data.labelled.csv holds text that begins with =, +, - or @ (" in run.err
    assert "such as '=1+1' in the column 'label'" in run.err
    facts = json.loads(Path("data.labelled.csv.meta.json").read_text("utf-8"))
    assert "'=1+1'" in facts["formula_cells"]
    assert '"r0","=1+1",' in Path("data.labelled.csv").read_text("utf-8")


def test_an_output_that_is_a_link_stays_one(run):
    Path("real").mkdir()
    Path("out.csv").symlink_to("real/labels.csv")
    run("cluster", "data.csv", "-k", "2", "--out", "out.csv")
    assert Path("out.csv").is_symlink()
    assert len(Path("real/labels.csv").read_text("utf-8").splitlines()) == N + 1


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (table_target, "n" * 243 + ".csv"),  # with .meta.json it is too long
        (table_target, "n" * 300 + ".csv"),
        (table_target, "é" * 130 + ".parquet"),
        (table_target, "n" * 300 + "/out.csv"),
        (table_target, "/".join(["n" * 200] * 25) + ".csv"),
        (map_target, "n" * 300 + ".png"),
        (map_target, "n" * 243 + ".csv"),
        (page_target, "n" * 300 + ".html"),
    ],
)
def test_names_too_long_are_refused_before_any_work(target, name, tmp_path):
    arguments = ("word", ()) if target is table_target else ((),)
    with pytest.raises(InvalidInputError, match=r"has \d+ bytes.*Choose a shorter one"):
        target("data.csv", tmp_path / name, *arguments)


def test_the_longest_name_that_fits_is_written(run):
    name = "n" * 241 + ".csv"
    run("cluster", "data.csv", "-k", "2", "--out", name)
    assert {path.name for path in Path.cwd().iterdir()} == {
        "data.csv",
        name,
        f"{name}.meta.json",
    }


def test_a_name_that_comes_from_long_data_is_refused_too(tmp_path):
    with pytest.raises(InvalidInputError, match="Choose a shorter one with --out"):
        table_target(tmp_path / ("n" * 251 + ".csv"), None, "labelled", ())
    with pytest.raises(InvalidInputError, match="Choose a shorter one"):
        folder_target(tmp_path / ("n" * 300))


def test_odd_outputs_are_refused_before_any_work(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    os.mkfifo(tmp_path / "side.csv.meta.json")
    for name, reason in (("pipe", "no regular"), ("loop", "circle"), ("side", "no regular")):
        with pytest.raises(InvalidInputError, match=reason):
            table_target("data.csv", tmp_path / f"{name}.csv", "word", ())
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xe9.csv"))
    with pytest.raises(InvalidInputError, match="not in UTF-8"):
        table_target("data.csv", odd, "word", ())


@pytest.fixture
def usual_recursion():
    """The limit that Python starts with: other tests' libraries raise it for the whole process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("usual_recursion")
def test_config_files_that_are_no_files_are_refused_at_once(run):
    os.mkfifo("pipe.toml")
    run("label", "data.csv", "--config", "pipe.toml", code=1)
    assert run.err == "beltrami: the config file 'pipe.toml' is no regular file.\n"
    Path("deep.toml").write_text("a = " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    run("label", "data.csv", "--config", "deep.toml", code=1)
    assert "is no TOML" in run.err


def test_links_in_a_circle_are_one_line(run):
    Path("loop.csv").symlink_to("loop.csv")
    Path("folder").symlink_to("folder")
    for name in ("loop.csv", "folder"):
        run("label", name, code=1)
        assert "link that leads nowhere, or in a circle" in run.err
        assert len(run.err.splitlines()) == 1


TRAP = """
import os, signal, sys

class Trap:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), number)

wanted, number = sys.argv.pop(1), int(sys.argv.pop(1))
sys.meta_path.insert(0, Trap())
from beltrami.cli.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "module", ["typer", "beltrami.cli.commands.label", "pyarrow", "numba", "scipy"]
)
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, INTERRUPTED, "interrupted"), (signal.SIGTERM, TERMINATED, "terminated")],
)
def test_a_signal_during_imports_is_one_line(module, number, code, word, tmp_path):
    (tmp_path / "data.csv").write_text(table(), encoding="utf-8")
    script = [sys.executable, "-c", TRAP, module, str(int(number)), "label", "data.csv", "-q"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == f"beltrami: {word}; nothing is left half written."
    assert done.returncode == code
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}


IN_A_CALLBACK = """
import ctypes, os, signal, sys, time
from beltrami.cli import __main__ as command_line

def compile_something():
    callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), getattr(signal, sys.argv[1])))
    callback()  # swallows the exception of the handler, as the compiler's callbacks do
    time.sleep(20)
    print("went on")

command_line._run = compile_something
command_line.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", INTERRUPTED), ("SIGTERM", TERMINATED)])
def test_a_signal_that_a_callback_swallows_stops_the_run_all_the_same(name, code):
    command = [sys.executable, "-c", IN_A_CALLBACK, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.count("\n") == 1, done.stderr


WHILE_COMPILING = """
import os, signal, sys, time
from beltrami.cli import __main__ as command_line

def work():
    lines = ["os.kill(os.getpid(), number)", "for _ in range(50): time.sleep(0.002)"]
    text = "\\n".join([*lines, "print('compiled')"])
    code = compile(text, os.path.join("lib", "llvmlite", "binding.py"), "exec")
    exec(code, {"os": os, "time": time, "number": getattr(signal, sys.argv[1])})
    time.sleep(20)
    print("went on")

command_line._run = work
command_line.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", INTERRUPTED), ("SIGTERM", TERMINATED)])
def test_a_signal_waits_until_the_compiler_has_done(name, code):
    command = [sys.executable, "-c", WHILE_COMPILING, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "compiled\n"), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_the_exit_code_of_an_interruption_inside_executed_text_is_the_same(tmp_path):
    """Such as in dataclasses, where Python itself would go on to end the process by the signal."""
    kill = "os.kill(os.getpid(), number)"
    executed = f'exec("{kill}\\nfor _ in range(99): pass", globals())'
    (tmp_path / "trap.py").write_text(TRAP.replace(kill, executed))
    script = [sys.executable, "-m", "trap", "typer", "2", "doctor"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (INTERRUPTED, 1), done.stderr


HALF = """
import os, signal, sys
from beltrami.cli.__main__ import main
from beltrami.tables import writing

def half(table, is_first):
    yield b"id,clus"
    os.kill(os.getpid(), int(number))
    yield b"ter"

number = sys.argv.pop(1)
writing._LINES[".csv"] = half
main()
"""


def test_after_sigterm_and_the_run_after_sigkill_no_temporary_file_is_left(run):
    script = [sys.executable, "-c", HALF]
    arguments = ["cluster", "data.csv", "-k", "2", "-q"]
    done = subprocess.run(
        [*script, str(int(signal.SIGTERM)), *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (TERMINATED, 1), done.stderr
    assert {path.name for path in Path.cwd().iterdir()} == {"data.csv"}
    subprocess.run([*script, str(int(signal.SIGKILL)), *arguments], check=False)
    assert len(list(Path.cwd().iterdir())) == 3
    run(*arguments)
    assert {path.name for path in Path.cwd().iterdir()} == {
        "data.csv",
        "data.clusters.csv",
        "data.clusters.csv.meta.json",
    }
