"""Figures of the thesis, and of two others, with the numbers that say what they show."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.core.errors import InvalidInputError
from beltrami.data import Dataset, swiss_roll
from beltrami.graph.families import ring
from beltrami.graph.recipes import KnnGraph
from beltrami.operators.laplacian import laplacian
from beltrami_papers.findings import (
    Claim,
    Setting,
    claim_lines,
    reproduction_of,
)
from beltrami_papers.mbed.logistic import curve_cells
from beltrami_papers.model import StageClock, record_text
from beltrami_papers.thesis.chapter2.bars import bars_reproduction, map_measures
from beltrami_papers.thesis.chapter2.lle import (
    even_ring,
    even_torus,
    lle_measures,
    null_dimension,
    random_sphere,
    random_torus,
    reconstruction_weights,
    residual_matrix,
)
from beltrami_papers.thesis.chapter2.maps import (
    chance_share,
    explained_share,
    same_group_share,
    with_signs,
)
from beltrami_papers.thesis.chapter2.roll import (
    roll_map,
    roll_measures,
    shortcut_share,
)
from beltrami_papers.thesis.chapter2.roll_points import flatness
from beltrami_papers.thesis.chapter2.speech_map import (
    CLASSES,
    class_of_phone,
    end_regions,
    frames_of,
)
from beltrami_papers.thesis.chapter2.word_map import (
    GROUPS,
    commonest_tags,
    fragment_of,
    group_of_tag,
)
from beltrami_papers.thesis.chapter3.plane_curve import (
    PLANE,
    curve_errors,
    curve_scene,
)
from beltrami_papers.thesis.chapter4.convergence import (
    HARMONICS,
    balanced_width,
    convergence_error,
    heat_laplacian_at,
    spectrum_of,
)

ENTRIES = {
    "name",
    "source",
    "data",
    "n",
    "settings",
    "seeds",
    "remarks",
    "seconds",
    "versions",
    "threads",
    "processor_seconds",
    "peak_memory_mib",
    "claims",
}
PANELS = {
    "thesis-a1": 6,
    "thesis-a2": 2,
    "thesis-a3": 9,
    "thesis-a4": 3,
    "thesis-convergence": 2,
    "thesis-lle": 3,
    "mbed-figure-1": 1,
    "multi-manifold-pictures": 12,
}
"""Figures that need no file, and how many panels each has."""

READ = ("thesis-a5", "thesis-a6", "thesis-a7", "thesis-a8")


def _left_all_files(name, found, folder):
    assert set(found.record) >= ENTRIES
    assert found.record["name"] == name
    assert found.record["claims"]
    assert found.table.startswith(f"# {name}: {found.record['source']}\n")
    written = {path.name for path in found.save(name, folder)}
    assert written == {f"{name}.{suffix}" for suffix in ("png", "json", "md")}
    assert json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) == found.record


@pytest.mark.parametrize("name", list(PANELS))
def test_a_quick_run_leaves_figure_record_and_page(name, quick_run, tmp_path):
    found = quick_run(name)
    _left_all_files(name, found, tmp_path)
    assert len(found.figure.axes) == PANELS[name]
    assert all(panel.has_data() for panel in found.figure.axes)


@pytest.mark.data
@pytest.mark.parametrize("name", READ)
def test_a_quick_run_on_the_papers_data_leaves_all_three(name, quick_run, data_folder, tmp_path):
    found = quick_run(name)
    _left_all_files(name, found, tmp_path)
    assert str(data_folder) not in record_text(found.record) + found.table


class TestFindings:
    def test_a_claim_that_does_not_hold_is_said_aloud(self):
        lines = claim_lines([Claim("it is so", "it is", True), Claim("and so", "not so", False)])
        assert lines[2] == "| it is so | it is | yes |"
        assert lines[3] == "| and so | not so | **no** |"
        assert claim_lines([]) == []

    def test_record_and_page_hold_the_same(self):
        setting = Setting("x", "Source", "data", 3, {"k": "4"}, "none.", ["a remark"])
        claims = [Claim("said", "found", np.bool_(True))]
        found = reproduction_of(
            setting, None, StageClock(), claims=claims, numbers={"cells": [1]}, body=["the body"]
        )
        assert found.record["cells"] == [1]
        assert json.loads(record_text(found.record)) == found.record
        for text in ("# x: Source", "n = 3", "k: 4", "- a remark", "| said | found | yes |"):
            assert text in found.table


class TestMaps:
    def test_signs_make_the_largest_entry_positive(self):
        columns = np.array([[1.0, -3.0], [-2.0, 2.0]])
        np.testing.assert_array_equal(with_signs(columns), [[-1.0, 3.0], [2.0, -2.0]])
        np.testing.assert_array_equal(with_signs(with_signs(columns)), with_signs(columns))

    def test_two_far_groups_share_all_neighbours_and_chance_counts_pairs(self):
        points = np.concatenate([np.arange(4.0), 100 + np.arange(4.0)])[:, None]
        groups = np.repeat([0, 1], 4)
        assert same_group_share(points, groups, 3) == 1
        assert same_group_share(points, np.arange(8) % 2, 1) == 0
        assert chance_share(groups) == pytest.approx(2 * 4 * 3 / (8 * 7))

    def test_what_a_linear_map_gives_is_explained(self):
        points = np.random.default_rng(0).normal(size=(50, 3))
        assert explained_share(
            points, points[:, :2] @ [[1.0, 2.0], [0.0, 1.0]] + 5
        ) == pytest.approx(1)
        assert explained_share(points[:, :1], points[:, 1:2]) < 0.2


class TestCurve:
    def test_labels_teach_better_along_the_curve_than_in_the_plane(self):
        scene = curve_scene()
        errors = {method: each.mean() for method, each in curve_errors(scene, 3, 5).items()}
        assert max(error for method, error in errors.items() if method != PLANE) < errors[PLANE]

    def test_the_question_mark_misleads_in_the_plane_only(self, quick_run):
        found = quick_run("thesis-a1").record
        assert found["question"]["eigenmap"] < 1 < found["question"]["plane"]
        assert [cell["draws"] for cell in found["errors"]] == [3] * 6


class TestRoll:
    roll = swiss_roll(600, random_state=0)

    def test_edges_are_nearly_as_long_in_space_as_on_the_rectangle(self):
        found = flatness(self.roll)
        assert 0.95 < found["edge_ratio_least"] <= found["edge_ratio"] <= 1

    def test_many_neighbours_join_turns_and_narrow_kernels_undo_it(self):
        arc = np.asarray(self.roll.extras["arc_length"])
        assert shortcut_share(KnnGraph(5).build(self.roll.points), arc) == 0
        wide, narrow = (roll_measures(self.roll, roll_map(self.roll, 40, t)) for t in (np.inf, 5.0))
        assert wide["shortcuts"] > 0
        assert narrow["order"] > max(0.95, wide["order"])

    def test_the_map_goes_along_the_spiral_to_the_right(self):
        found = roll_map(self.roll, 8, np.inf).coordinates
        assert np.corrcoef(found[:, 0], self.roll.extras["arc_length"])[0, 1] > 0.9


class TestBars:
    def test_separate_clouds_have_no_one_on_the_wrong_side(self):
        points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [50, 0]], 30, 0)
        found = map_measures(points, np.repeat([0, 1], 30))
        assert (found["neighbours"], found["nearest"], found["line"]) == (1, 0, 0)
        assert found["gap"] > 10

    def test_the_eigenmap_tells_bars_apart_and_components_do_not(self):
        record = bars_reproduction().record
        assert all(claim["holds"] for claim in record["claims"])
        assert (
            record["maps"]["eigenmap"]["line"] < 1 < record["maps"]["principal components"]["line"]
        )


class TestConvergence:
    def test_constants_have_no_laplacian(self):
        points = np.asarray(HARMONICS[0].manifold(50, random_state=0).points)
        found = heat_laplacian_at(points, np.ones(50), np.arange(5), t=0.1, dimension=1)
        np.testing.assert_allclose(found, 0, atol=1e-12)

    def test_even_points_give_the_eigenvalues_of_the_circle(self):
        angle = 2 * np.pi * np.arange(400) / 400
        points = np.column_stack([np.cos(angle), np.sin(angle)])
        found = spectrum_of(points, t=1e-3, dimension=1, volume=2 * np.pi, count=7)
        np.testing.assert_allclose(found, [0, 1, 1, 4, 4, 9, 9], rtol=0.01, atol=1e-8)

    def test_the_balanced_width_is_the_one_that_is_used(self):
        t = balanced_width(800, 1)
        ours, same = (convergence_error(HARMONICS[0], 800, seed=1, t=each) for each in (None, t))
        assert ours == same
        assert t == pytest.approx(0.5 * 800 ** (-2 / 7))


class TestLle:
    def test_on_a_ring_it_is_half_the_laplacian_and_a_quarter_of_its_square(self):
        patches = even_ring(30)
        weights = reconstruction_weights(patches.offsets)
        np.testing.assert_allclose(weights, 0.5, rtol=1e-12)
        residual = residual_matrix(patches.neighbors, weights).toarray()
        graph = laplacian(ring(30)).toarray()
        np.testing.assert_allclose(residual, graph / 2, atol=1e-12)
        np.testing.assert_allclose(residual.T @ residual, graph @ graph / 4, atol=1e-12)

    def test_on_a_line_the_nearer_neighbour_weighs_more(self):
        weights = reconstruction_weights(np.array([[[-1.0], [3.0]]]), regularization=1e-9)[0]
        np.testing.assert_allclose(weights, [0.75, 0.25], atol=1e-6)

    @given(seed=st.integers(0, 50), k=st.integers(3, 8), delta=st.sampled_from([1e-3, 1e-1]))
    def test_rows_sum_to_one_and_no_other_weights_cost_less(self, seed, k, delta):
        rng = np.random.default_rng(seed)
        offsets = rng.normal(size=(1, k, 2))
        weights = reconstruction_weights(offsets, regularization=delta)[0]
        assert weights.sum() == pytest.approx(1)
        gram = offsets[0] @ offsets[0].T
        gram += delta * np.trace(gram) * np.eye(k)
        other = weights + rng.normal(size=k) * 0.1
        other += (1 - other.sum()) / k
        assert weights @ gram @ weights <= other @ gram @ other + 1e-12

    def test_weights_do_not_see_turns_and_scales(self):
        rng = np.random.default_rng(0)
        offsets = rng.normal(size=(5, 6, 3))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        np.testing.assert_allclose(
            reconstruction_weights(7 * offsets @ turn), reconstruction_weights(offsets), rtol=1e-8
        )

    @pytest.mark.parametrize("delta", [0.0, -1.0])
    def test_a_regularisation_that_is_not_positive_is_refused(self, delta):
        with pytest.raises(InvalidInputError, match="regularization"):
            reconstruction_weights(np.ones((1, 2, 2)), regularization=delta)

    @pytest.mark.parametrize("k", [4, 8])
    def test_on_a_grid_the_square_of_the_laplacian_comes_out_with_a_quarter(self, k):
        found = lle_measures(even_torus(24, k))
        assert found["squared"] == pytest.approx(1, abs=1e-9)
        assert found["constant"] == pytest.approx(0.25, rel=0.02)
        assert found["energies"][1] == pytest.approx(4, rel=0.03)
        assert min(found["spaces"]) == pytest.approx(1, abs=1e-6)

    def test_the_second_factor_is_the_transpose(self):
        patches = random_torus(120, 8, seed=1)
        dense = residual_matrix(
            patches.neighbors, reconstruction_weights(patches.offsets)
        ).toarray()
        f = patches.functions
        image = dense.T @ dense @ f
        cosines = (f * image).sum(0) / np.linalg.norm(f, axis=0) / np.linalg.norm(image, axis=0)
        assert lle_measures(patches)["squared"] == pytest.approx(cosines.mean())

    def test_eigenspaces_are_found_on_even_density_and_lost_on_uneven(self):
        even, uneven = (lle_measures(random_torus(600, 30, seed=0, tilt=a)) for a in (0.0, 0.8))
        assert min(even["spaces"]) > 0.9
        assert min(uneven["spaces"]) < 0.75
        assert even["squared"] < 0.7

    def test_without_regularisation_a_sphere_loses_its_coordinates(self):
        patches = random_sphere(400, 12, seed=0)
        assert lle_measures(patches, regularization=1e-6)["energies"][1] > 1e4
        assert lle_measures(patches, regularization=1e-2)["energies"][1] == pytest.approx(
            9, rel=0.2
        )

    def test_groups_that_rest_on_themselves_are_counted(self):
        two = residual_matrix(np.array([[1], [0], [3], [2], [0]]), np.ones((5, 1)))
        assert null_dimension(two) == 2
        found = lle_measures(random_torus(300, 3, seed=0))
        assert found["null"] > 1
        assert found["spaces"] == []


class TestWords:
    @pytest.mark.parametrize(
        ("tag", "group"),
        [
            ("VB", "infinitives"),
            ("VBD", "other verbs"),
            ("DOD*", "modals and auxiliaries"),
            ("BEDZ", "modals and auxiliaries"),
            ("IN", "prepositions"),
            ("NNS", "nouns"),
            ("PP$", "determiners, adjectives, numerals"),
            ("PPSS", "pronouns"),
            ("TO", "adverbs, conjunctions and others"),
            ("*", "adverbs, conjunctions and others"),
        ],
    )
    def test_tags_have_their_groups(self, tag, group):
        assert GROUPS[group_of_tag(tag)] == group

    def test_the_commonest_tag_wins_and_suffixes_are_left_out(self):
        tags = commonest_tags(
            ["run", "a"], ["Run a run", "a run", "run"], ["nn-hl at nn", "at vb", "vb"]
        )
        assert tags == ("NN", "AT")

    def test_the_fragment_is_where_a_group_is_dense(self):
        points = np.column_stack([np.arange(30.0), np.zeros(30)])
        members = np.isin(np.arange(30), [2, 20, 21, 22, 23])
        spot = fragment_of(points, members, size=4)
        assert spot.tolist() == [20, 21, 22, 23]

    @pytest.mark.data
    def test_syntactic_groups_lie_together(self, quick_run, data_folder):
        whole = quick_run("thesis-a5").record["homogeneity"][0]
        assert whole["eigenmap"] > 1.5 * whole["chance"]


class TestSpeech:
    def test_phones_have_their_classes(self):
        named = [CLASSES[class_of_phone(phone)] for phone in ("sh", "cl", "aa", "n", "t")]
        assert named == [CLASSES[0], CLASSES[1], CLASSES[2], CLASSES[2], CLASSES[3]]

    def test_frames_belong_to_the_segment_of_their_middle(self):
        extras = {
            "wave": np.random.default_rng(0).integers(-99, 99, 3200).astype(np.int16),
            "offset": np.array([0, 1600, 3200]),
            "phone_seg": np.array([[0, 0, 1600], [1, 0, 700], [1, 700, 1600]]),
            "sample_rate": 16000,
        }
        spectra, segments = frames_of(Dataset(name="two", extras=extras), 1)
        assert spectra.shape == (15, 256)
        centers = 240 + 80 * np.arange(15)
        np.testing.assert_array_equal(segments, np.where(centers < 700, 1, 2))

    def test_regions_are_the_ends_of_a_star(self):
        arm = np.linspace(0, 1, 20)
        angles = np.array([0.0, 2.0, 4.0])
        points = np.vstack([np.column_stack([arm * np.cos(a), arm * np.sin(a)]) for a in angles])
        regions = end_regions(points * np.repeat([3.0, 2.0, 2.0], 20)[:, None], size=5)
        assert {tuple(rows.tolist()) for rows in regions} == {
            tuple(range(20 * i + 15, 20 * i + 20)) for i in range(3)
        }

    @pytest.mark.data
    def test_another_recording_is_said_aloud_and_spokes_are_found(self, quick_run, data_folder):
        found = quick_run("thesis-a7")
        assert "ANOTHER RECORDING" in found.table
        assert all(claim["holds"] for claim in found.record["claims"])


def test_the_logistic_curves_are_half_at_the_boundary_and_sharpen():
    cells = curve_cells()
    assert [cell["step"] for cell in cells] == list(range(2, 21))
    assert cells[9]["slope"] == 0.25
    assert cells[9]["at_r"] == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    slopes = [cell["slope"] for cell in cells]
    assert slopes == sorted(slopes)


def test_pictures_come_with_purities_and_errors(quick_run):
    record = quick_run("multi-manifold-pictures").record
    assert [cell["regions"] for cell in record["scenes"]] == [12, 8, 3]
    assert all(50 <= cell["purity"] <= 100 for cell in record["scenes"])
    assert all(cell["weight_between"] < cell["edges_between"] for cell in record["scenes"])
