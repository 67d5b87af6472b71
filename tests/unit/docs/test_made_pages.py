from book.bibliography import entries_of
from book.commands import PAGE, page_text
from book.gather import gather
from book.members import own_methods, own_properties

ENTRY = r"""@article{Key03,
  author  = {Qui{\~n}onero, Joaquin and
             Zien, Alexander},
  title   = {On {Maps}},
  year    = {2003},
}
"""


def test_entries_over_several_lines_and_accents_are_read():
    entry = entries_of(ENTRY)["Key03"]
    assert entry["author"] == "Quiñonero, Joaquin and Zien, Alexander"
    assert entry["title"] == "On Maps"


def test_the_page_of_the_command_line_is_what_the_commands_say():
    """Written anew by ``python -m book.commands`` in docs/_extensions."""
    assert PAGE.read_text("utf-8") == page_text(PAGE.read_text("utf-8"))


def test_methods_leave_out_the_plumbing():
    found = own_methods("beltrami.PoissonClassifier")
    assert found[0] == "fit"
    assert "predict_proba" in found
    assert not {"get_metadata_routing", "set_fit_request", "get_params"} & set(found)


def test_properties_are_listed_unless_the_docstring_has_them_already():
    assert own_properties("beltrami.review.audit.Certificate") == ["sentence"]
    assert own_properties("beltrami.Basis") == []


def test_gathering_leaves_what_did_not_change_and_removes_what_is_gone(tmp_path):
    root, stage = tmp_path / "root", tmp_path / "stage"
    (root / "docs" / "guides").mkdir(parents=True)
    (root / "docs" / "guides" / "index.md").write_text("# Guides\n")
    (root / "docs" / "guides" / "a.md").write_text("# A\n")
    gather(root, stage)
    assert "toctree" in (stage / "guides" / "index.md").read_text()
    before = (stage / "guides" / "index.md").stat().st_mtime_ns
    (root / "docs" / "guides" / "a.md").unlink()
    gather(root, stage)
    assert (stage / "guides" / "index.md").stat().st_mtime_ns == before
    assert not (stage / "guides" / "a.md").exists()
