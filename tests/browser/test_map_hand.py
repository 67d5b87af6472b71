"""The map of points under a hand: what is hit, outlined and moved by mouse, wheel and fingers."""

import numpy as np
import pytest
from tests.support.chromium import open_browser
from tests.support.map_stage import BACKENDS, GIVEN, KINDS, SIDE, cloud, drag, open_stage, place


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


def inside(path: list, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the rows that a closed path winds around, one edge after the other."""
    turns = np.zeros(len(x), dtype=int)
    for (ax, ay), (bx, by) in zip(path, path[1:] + path[:1], strict=True):
        if ay != by:
            cut = ax + (y - ay) / (by - ay) * (bx - ax)
            turns += np.where((cut <= x) & ((ay <= y) != (by <= y)), np.sign(by - ay), 0).astype(
                int
            )
    return np.flatnonzero(turns)


@pytest.mark.parametrize("prefer", BACKENDS)
def test_the_row_under_the_pointer_is_named_and_picked(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        left, top = place(*KINDS[5][:2])
        stage.page.mouse.move(left + 6, top - 5)
        stage.page.mouse.move(left + 5, top - 5)
        assert stage.heard("hover") == [[5, pytest.approx(left), pytest.approx(top)]]
        stage.page.mouse.click(left + 5, top - 5)
        stage.page.mouse.click(left + 40, top + 60)
        assert stage.heard("pick") == [5, -1]
        stage.page.mouse.move(600, 550)
        assert stage.heard("hover")[1:] == [[-1, 0, 0]]
        stage.do("map.zoomBy(1.01)")
        stage.page.mouse.move(left + 5, top - 5)
        stage.do("map.reset()")
        stage.page.mouse.move(left + 4, top - 5)  # the same row, after the view has changed
        assert [row for row, _, _ in stage.heard("hover")[2:]] == [5, 5]
        before = stage.picture()
        stage.do("map.setPicked(5)")
        circle = (abs(stage.picture() - before).max(axis=2) > 60).nonzero()
        distance = np.hypot(circle[0] - top, circle[1] - left)
        assert len(distance) > 100
        assert 9 < distance.min() < distance.max() < 14
        stage.do("map.setPicked(-1)")
        np.testing.assert_array_equal(stage.picture(), before)


def test_the_nearest_row_is_the_nearest_of_all_and_given_ones_win_ties(browser):
    rows = cloud(3000, sources=(1, 2, 1, 3, 0))
    x, y, _, _, source = (np.array(column) for column in zip(*rows, strict=True))
    places = np.random.default_rng(1).uniform(0, SIDE, size=(300, 2))
    with open_stage(browser, prefer="canvas", rows=rows) as stage:
        found = stage.do("return given.map((place) => map.at(...place))", places.tolist())
    left, top = place(x.astype(np.float32), y.astype(np.float32))
    for (a, b), row in zip(places, found, strict=True):
        square = (left - a) ** 2 + (top - b) ** 2
        weighed = np.where(square <= 14**2, square * np.where(source == GIVEN, 0.3, 1.0), np.inf)
        assert row == (weighed.argmin() if np.isfinite(weighed).any() else -1)
    assert min(found) == -1


@pytest.mark.parametrize("prefer", BACKENDS)
def test_lasso_and_rectangle_hand_over_the_rows_inside(browser, prefer):
    rows = cloud(5000)
    left, top = place(*np.array(rows, dtype=np.float32).astype(float).T[:2])
    turn = np.linspace(0, 4 * np.pi, 90)  # crosses itself, and leaves the points
    size = 90 + 60 * np.sin(1.5 * turn)
    path = np.column_stack([150 + size * np.cos(turn), 200 + size * np.sin(turn)]).tolist()
    with open_stage(browser, prefer=prefer, rows=rows) as stage:
        page = stage.page
        stage.do('map.setTool("lasso")')
        before = stage.picture()
        drag(page, path, release=False)
        stage.do("")
        outline = abs(stage.picture() - before).max(axis=2)
        assert (outline > 60).sum() > 100
        page.mouse.up()
        stage.do("")
        np.testing.assert_array_equal(stage.picture(), before)
        stage.do('map.setTool("rectangle")')
        drag(page, [(320, 300), (200, 200), (101, 60)])
        stage.do('map.setTool("pan")')
        page.keyboard.down("Shift")
        drag(page, [(20, 20), (200, 25), (210, 230), (15, 200)])
        page.keyboard.up("Shift")
        lasso, rectangle, shifted = stage.heard("select")
        centre = stage.do("return map.centre")
    assert lasso[:2] == ["lasso", "Uint32Array"]
    np.testing.assert_array_equal(lasso[2], inside(path, left, top))
    assert rectangle[0] == "rectangle"
    within = (left > 101) & (left < 320) & (top > 60) & (top < 300)
    np.testing.assert_array_equal(rectangle[2], np.flatnonzero(within))
    assert shifted[0] == "lasso"
    path = [(20, 20), (200, 25), (210, 230), (15, 200)]
    np.testing.assert_array_equal(shifted[2], inside(path, left, top))
    assert centre == [0.5, 0.5]
    assert min(len(lasso[2]), len(rectangle[2]), len(shifted[2])) > 300


@pytest.mark.parametrize("prefer", BACKENDS)
def test_hidden_rows_are_neither_drawn_nor_hit(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        stage.do("map.setVisible(Uint8Array.of(1, 0, 1, 1, 0, 1, 1, 1))")
        assert stage.do("return map.drawn") == 6
        for row in (1, 4):
            np.testing.assert_array_equal(stage.pixel(*KINDS[row][:2]), stage.ground)
        at = "return given.map(([left, top]) => map.at(left, top))"
        assert stage.do(at, [place(1, 0), place(0.5, 0.5), place(0, 0)]) == [-1, -1, 0]
        stage.do('map.setTool("rectangle")')
        drag(stage.page, [(2, 2), (300, 300), (446, 446)])
        assert stage.heard("select")[0][2] == [0, 2, 3, 5, 6, 7]
        stage.do("map.setVisible(null)")
        assert stage.do(at, [place(1, 0), place(0.5, 0.5)]) == [1, 4]


@pytest.mark.parametrize("prefer", BACKENDS)
def test_the_view_moves_by_drag_wheel_and_words(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        page, where = stage.page, "return map.toScreen({})"
        page.mouse.move(300, 124)
        for _ in range(8):
            page.mouse.wheel(0, -100)
        stage.do("")
        zoom = stage.do("return map.zoom")
        assert zoom == pytest.approx(np.exp(0.0018 * 800))
        x, y = (300 - 224) / 400 + 0.5, 0.5 - (124 - 224) / 400
        left, top = stage.do(where.format(4))
        assert left == pytest.approx(300 + (0.5 - x) * 400 * zoom, abs=0.1)
        assert top == pytest.approx(124 - (0.5 - y) * 400 * zoom, abs=0.1)
        drag(page, [(200, 200), (230, 230), (250, 180)])
        assert stage.do(where.format(4)) == [pytest.approx(left + 50), pytest.approx(top - 20)]
        assert stage.heard("pick") == []
        stage.do("map.panBy(-50, 20)")
        assert stage.do(where.format(4)) == [pytest.approx(left), pytest.approx(top)]
        stage.do("map.centreOn(0, 9)")
        assert stage.do("return [map.zoom, ...map.toScreen(0)]") == [9, 224, 224]
        assert abs(stage.pixel(0.5, 0.5) - np.array([13, 121, 182])).max() < 5  # row 0, in blue
        stage.do("map.zoomBy(0.5)")
        assert stage.do("return map.zoom") == 4.5
        views = stage.heard("view")
        stage.do("map.reset()")
        assert stage.do("return [map.zoom, map.centre]") == [1, [0.5, 0.5]]
        assert stage.heard("view") == views + 1
        page.mouse.dblclick(224, 224)
        assert stage.do("return map.zoom") == 2
        stage.do("map.reset()")
        page.mouse.wheel(0, 300)  # out of the whole map the wheel belongs to the page
        stage.until("scrollY > 100")
        assert stage.do("return map.zoom") == 1


@pytest.mark.parametrize("prefer", BACKENDS)
def test_fingers_pan_pinch_tap_and_draw(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS, has_touch=True) as stage:
        fingers = stage.page.context.new_cdp_session(stage.page)

        def touch(kind: str, *places: tuple[float, float]) -> None:
            points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", (174, 224))
        touch("touchStart", (174, 224), (274, 224))
        touch("touchMove", (124, 224), (324, 224))
        touch("touchMove", (74, 224), (374, 224))
        touch("touchEnd")
        stage.do("")
        assert stage.do("return map.zoom") == pytest.approx(3, rel=0.05)
        assert stage.do("return map.centre") == [pytest.approx(0.5, abs=0.03)] * 2
        touch("touchStart", (224, 224))
        touch("touchMove", (224, 264))
        touch("touchMove", (224, 304))
        touch("touchEnd")
        stage.do("")
        assert stage.do("return map.centre[1]") > 0.54
        assert stage.heard("pick") == []
        stage.do("map.reset()")
        left, top = place(0.25, 0.5)
        touch("touchStart", (left + 3, top))
        touch("touchEnd")
        stage.do("")
        assert stage.heard("pick") == [5]
        assert stage.heard("hover") == []
        stage.do('map.setTool("lasso")')
        touch("touchStart", (10, 300))
        for point in ((438, 300), (438, 440), (10, 440)):
            touch("touchMove", point)
        touch("touchEnd")
        stage.do("")
        assert [one[2] for one in stage.heard("select")] == [[0, 1, 7]]
        assert stage.do("return map.zoom") == 1
