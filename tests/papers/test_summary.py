"""The table of all published numbers: hits, misses, chance and evidence."""

import json

from beltrami_papers.book import index_text, write_book
from beltrami_papers.findings import Claim
from beltrami_papers.summary import aims_of, claims_of, summary_text


def _record(*cells, **more):
    return {"errors": list(cells), "seconds": {"fits": 2.0, "total": 2.0}, **more}


HIT = {"labelled": 50, "eigenvectors": 20, "mean": 5.9, "std": 1.0, "draws": 20, "published": 5.0}
MISS = {**HIT, "mean": 8.0}
NOISY = {**MISS, "std": 9.0}


def test_a_miss_is_more_than_a_point_off_and_has_its_evidence():
    hit, miss, noisy = aims_of("thesis-3.1", _record(HIT, MISS, NOISY))
    assert not hit.is_missed
    assert hit.evidence == ""
    assert miss.is_missed
    assert "angle" in miss.evidence
    assert noisy.evidence.startswith("chance: our draws deviate by 9.0")
    assert (hit.where, miss.difference) == ("l = 50, p = 20", 3.0)


def test_a_number_below_the_published_one_by_more_than_a_point_is_a_miss_too():
    (low,) = aims_of("thesis-3.3", _record({**HIT, "mean": 2.0, "std": 0.1}))
    assert low.is_missed
    assert "another sample" in low.evidence


def test_variants_and_cells_without_a_published_number_are_no_aims():
    cells = ({**HIT, "variant": "x"}, {"mean": 3.0})
    assert list(aims_of("thesis-3.1-variants", _record(*cells))) == []
    (pair,) = aims_of(
        "mbed-table-1", _record({"data": "a", "method": "b", "pairs": 3.0, "published": 2.5})
    )
    assert (pair.ours, pair.where) == (3.0, "a, b")


def test_claims_come_from_one_mark_or_many():
    assert list(claims_of("x", {"mark": {"asked": "a", "held": True}})) == [Claim("a", "", True)]
    marks = [{"asked": "a", "held": True}, {"asked": "b", "held": False}]
    assert list(claims_of("x", {"marks": marks})) == [
        Claim("a", "", True),
        Claim("b", "", False),
    ]
    claims = [{"claim": "c", "holds": True, "found": "so"}]
    assert list(claims_of("x", {"claims": claims})) == [Claim("c", "so", True)]
    assert list(claims_of("x", {})) == []


def test_the_page_counts_and_lists_everything():
    neighbors = [{"labelled": 50, "mean": 40.0, "std": 1.0, "draws": 20, "published": 37.6}]
    records = {
        "thesis-3.1": _record(HIT, MISS, neighbors=neighbors),
        "lapsvm-moons": {"mark": {"asked": "no error", "held": False}, "seconds": {"x": 1.0}},
    }
    text = summary_text(records)
    assert "| [thesis-3.1](thesis-3.1.md) | 3 | 1 | 2 | 0 | +2.10 | +3.0 |" in text
    assert "| [lapsvm-moons](lapsvm-moons.md) | no error | **no** |  |" in text
    assert "| best k-NN, l = 50 | 37.6 | 40.00 | **+2.40** | no method of ours" in text
    assert "| l = 50, p = 20 | 5 | 5.90 | +0.90 |  |" in text


def test_the_book_lists_what_is_in_the_folder_and_no_more(tmp_path):
    (tmp_path / "thesis-3.1.json").write_text(json.dumps(_record(HIT, wall_seconds=7.4)))
    written = write_book(tmp_path)
    assert [path.name for path in written] == ["README.md", "summary.md"]
    index = (tmp_path / "README.md").read_text()
    assert "| [thesis-3.1](thesis-3.1.md) |" in index
    assert "| 7 |" in index
    assert "[thesis-3.2](" not in index
    assert "`multi-manifold-full`" in index_text({})
