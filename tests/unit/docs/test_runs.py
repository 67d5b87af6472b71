import pytest
from book.blocks import Block
from book.runs import run_pages

from beltrami.report.pictures.palette import OKABE_ITO


def run(folder, *blocks, key="a"):
    return run_pages({"page": list(blocks)}, folder, key)["page"]


def python(source):
    return Block("python", source, 1)


def test_blocks_share_names_and_folder_and_show_what_they_print(tmp_path):
    done = run(
        tmp_path,
        python("x = 2\nopen('kept', 'w').write('by python')"),
        Block("sh", "cat kept; echo; pwd", 5),
        python("import os\nprint(x + 1, os.getcwd())"),
    )
    assert [result["printed"] for result in done.results] == ["", "by python\n.", "3 ."]


def test_lines_about_stages_which_a_terminal_loses_are_not_shown(tmp_path):
    done = run(tmp_path, Block("sh", "echo '[1/2] reading the table: 0.1 s'; echo '2 rows'", 1))
    assert done.results[0]["printed"] == "2 rows"


def test_a_failure_stops_the_page_and_is_not_kept(tmp_path):
    bad = (python("print('before')\n1 / 0"), python("print('after')"))
    done = run(tmp_path, *bad)
    assert len(done.results) == 1
    assert "ZeroDivisionError" in done.results[0]["failure"]
    assert "line 2" in done.results[0]["failure"]
    assert run(tmp_path, *bad).is_new


@pytest.mark.parametrize(
    "block",
    [
        Block("sh", "false; true", 1),
        Block("sh", "echo $UNKNOWN_NAME", 1),
        Block("sh", "python -c '1 / 0' || true", 1),
        python("raise SystemExit(0)"),
        python("import os\nos._exit(3)"),
    ],
    ids=["error", "unknown name", "traceback", "exit", "crash"],
)
def test_failures_are_noticed(tmp_path, block):
    assert "failure" in run(tmp_path, block).results[0]


def test_a_page_is_run_again_only_when_something_changed(tmp_path):
    block = python("print(1)")
    assert run(tmp_path, block).is_new
    assert not run(tmp_path, block).is_new
    assert run(tmp_path, block, key="b").is_new


def test_figures_have_the_colours_of_reports(tmp_path):
    show = "from matplotlib import rcParams\nprint(*rcParams['axes.prop_cycle'].by_key()['color'])"
    printed = run(tmp_path, python(show)).results[0]["printed"]
    assert tuple(printed.split()) == OKABE_ITO


def test_figures_need_words(tmp_path):
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
    assert "alt" in run(tmp_path / "a", python(draw)).results[0]["failure"]
    figure = run(tmp_path / "b", python(draw + "# alt: a line")).results[0]["figures"][0]
    assert figure["alt"] == "a line"
    assert (tmp_path / "b" / "page" / figure["name"]).stat().st_size > 1000


def test_warnings_are_shown_without_paths(tmp_path):
    done = run(tmp_path, python("import warnings\nwarnings.warn('careful')"))
    assert done.results[0]["printed"] == "UserWarning: careful"
