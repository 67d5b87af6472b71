"""The map of points in a real browser: what is seen, by WebGL2 and without it."""

import numpy as np
import pytest
from tests.support.chromium import open_browser, open_page
from tests.support.fake_pages import fake_page
from tests.support.map_stage import (
    BACKENDS,
    GIVEN,
    KINDS,
    LABELLED,
    SIDE,
    UNREACHED,
    cloud,
    drag,
    open_stage,
    place,
)

from beltrami.report.page import render
from beltrami.report.page.colours import class_styles

GREY = {"light": (139, 145, 152), "dark": (136, 142, 151)}
INK = {"light": (29, 33, 38), "dark": (244, 244, 242)}


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


def colour(code: int, theme: str = "light") -> np.ndarray:
    text = getattr(class_styles(code + 1)[code], theme)
    return np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)])


def mixed(over: object, under: object, strength: float) -> np.ndarray:
    return strength * np.asarray(over) + (1 - strength) * np.asarray(under)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("prefer", BACKENDS)
def test_each_kind_of_row_has_its_colour_and_strength(browser, prefer, theme):
    with open_stage(browser, prefer=prefer, theme=theme, rows=KINDS, color_scheme=theme) as stage:
        backend = stage.do("return map.backend")
        assert backend == ("canvas" if prefer == "canvas" else "webgl2")
        assert stage.do("return [map.drawn, map.note]") == [8, ""]
        seen, ground = stage.picture(), stage.ground
        at = {row: seen[int(place(*row[:2])[1]), int(place(*row[:2])[0])] for row in KINDS}
        sure, doubtful, hollow, crossed, given, *others = at.values()
    np.testing.assert_allclose(sure, mixed(colour(0, theme), ground, 0.95), atol=4)
    np.testing.assert_allclose(doubtful, mixed(colour(1, theme), ground, 0.45), atol=4)
    np.testing.assert_allclose(hollow, ground, atol=4)
    np.testing.assert_allclose(crossed, mixed(GREY[theme], ground, 0.9), atol=4)
    np.testing.assert_allclose(given, colour(2, theme), atol=2)
    for pixel, code in zip(others, (8, 12, 24), strict=True):
        np.testing.assert_allclose(pixel, mixed(colour(code, theme), ground, 0.95), atol=4)
    left, top = (int(length) for length in place(0.5, 0.5))
    ring = seen[top - 9 : top + 10, left - 9 : left + 10].reshape(-1, 3)
    assert (abs(ring - np.array(INK[theme])).max(axis=1) < 70).sum() > 12


@pytest.mark.parametrize("prefer", BACKENDS)
def test_marks_have_their_shapes(browser, prefer):
    names = {0: (0, "disc"), 5: (8, "triangle"), 6: (12, "square"), 7: (24, "diamond")}
    covered = {}
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        for row, (code, name) in names.items():
            stage.do(f"map.reset(); map.centreOn({row}, 30);")
            seen = stage.picture()[SIDE // 2 - 16 : SIDE // 2 + 16, SIDE // 2 - 16 : SIDE // 2 + 16]
            channel = colour(code).argmin()
            covered[name] = (255 - seen[:, :, channel]) / (0.95 * (255 - colour(code)[channel]))
    radius = 4.2 * 2.4
    areas = {"disc": np.pi, "triangle": 2.64, "square": 3.24, "diamond": 3.24}
    for name, area in areas.items():
        assert covered[name].sum() == pytest.approx(area * radius**2, rel=0.04), name
    corner, side = 16 + 8, 16 + 11
    assert covered["square"][corner, corner] > 0.95
    assert covered["disc"][corner, corner] < 0.05
    assert covered["diamond"][corner, corner] < 0.05
    assert covered["diamond"][side, 16] > 0.9
    assert covered["square"][side, 16] < 0.05
    assert covered["triangle"][corner, 16 - 9] > 0.9
    assert covered["triangle"][16 - 8, 16 - 9] < 0.05


@pytest.mark.parametrize("mode", ["class", "confidence", "source"])
def test_both_backends_draw_the_same_picture(browser, mode):
    pictures = []
    for prefer in BACKENDS:
        with open_stage(browser, prefer=prefer, rows=cloud(700, sources=(1, 1, 2, 3, 0))) as stage:
            stage.do(f'map.setPaint({{ mode: "{mode}" }}); map.setPicked(20);')
            assert stage.do("return map.drawn") == 700
            pictures.append(stage.picture())
    first, second = (
        picture[:440, :440].reshape(55, 8, 55, 8, 3).mean((1, 3)) for picture in pictures
    )
    assert np.ptp(first) > 100
    assert abs(first - second).mean() < 3  # of 255, in squares of 8 pixels
    assert abs(first.mean((0, 1)) - second.mean((0, 1))).max() < 1.5


@pytest.mark.parametrize("prefer", BACKENDS)
def test_columns_colour_the_rows_and_missing_values_are_grey(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=[(*row[:4], LABELLED) for row in KINDS]) as stage:
        codes = "Uint16Array.from([0, 1, 32768, 65535, 2, 3, 4, 5])"
        stage.do(
            f'map.setPaint({{ mode: "column", column: {{ kind: "numeric", codes: {codes} }} }})'
        )
        numbers = [stage.pixel(*KINDS[row][:2]) for row in (0, 1, 2, 3)]
        codes = "Uint16Array.from([0, 1, 2, 37, 2, 3, 4, 5])"
        stage.do(
            f'map.setPaint({{ mode: "column", column: {{ kind: "categorical", codes: {codes} }} }})'
        )
        categories = [stage.pixel(*KINDS[row][:2]) for row in (0, 1, 2, 3)]
    low, middle, high = (0x44, 0x20, 0x7A), (0x1F, 0x8F, 0x86), (0xDB, 0xA8, 0x00)
    for pixel, wanted in zip(numbers, (GREY["light"], low, middle, high), strict=True):
        np.testing.assert_allclose(pixel, mixed(wanted, 255, 0.85), atol=4)
    # The thirty-seventh category comes round to the first style of 36.
    wanted = (GREY["light"], colour(0), colour(1), colour(0))
    for pixel, one in zip(categories, wanted, strict=True):
        np.testing.assert_allclose(pixel, mixed(one, 255, 0.85), atol=4)


def test_styles_are_those_of_the_report(browser):
    with open_stage(browser, prefer="canvas", rows=KINDS) as stage:
        styles = stage.do("return module.classStyles(40)")
    wanted = [{"light": s.light, "dark": s.dark, "mark": s.mark} for s in class_styles(40)]
    assert styles == wanted


@pytest.mark.parametrize("prefer", BACKENDS)
def test_a_delta_recolours_its_rows_and_no_other(browser, prefer):
    rows = cloud(3000)
    rows[17] = (0.5, 0.5, 0, 255, LABELLED)
    with open_stage(browser, prefer=prefer, rows=rows) as stage:
        stage.do(
            "map.setVisible(Uint8Array.from({ length: 3000 }, (_, i) => i === 17 || i > 2000))"
        )
        before = stage.picture()
        change = "map.changeAnswers(Uint32Array.of(17), answers([{}], [255], [{}]))"
        stage.do(change.format(5, LABELLED))
        recoloured = stage.picture()
        np.testing.assert_allclose(stage.pixel(0.5, 0.5), mixed(colour(5), 255, 0.95), atol=4)
        changed = (abs(recoloured - before).max(axis=2) > 0).nonzero()
        assert np.hypot(changed[0] - 224, changed[1] - 224).max() < 8
        stage.do(change.format(5, GIVEN))
        ringed = stage.picture()
        assert (abs(ringed - recoloured).max(axis=2) > 0).sum() > 20
        stage.do(change.format(5, GIVEN + 4))  # by area: a smaller ring
        assert (abs(stage.picture() - ringed).max(axis=2) > 60).sum() > 10
        stage.do(change.format(5, LABELLED))
        np.testing.assert_array_equal(stage.picture(), recoloured)
        stage.do(change.format(0, LABELLED))
        np.testing.assert_array_equal(stage.picture(), before)


@pytest.mark.parametrize("prefer", BACKENDS)
def test_a_delta_of_many_rows_is_what_all_answers_are(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=cloud(9000)) as stage:
        before = stage.picture()
        stage.do("""
        window.rows = Uint32Array.from({ length: 3000 }, (_, k) => (k * 7919) % 9000);
        window.some = answers(
          rows.map((row) => row % 5), rows.map(() => 200), rows.map((row) => 1 + (row % 3)));
        map.changeAnswers(rows, some);""")
        changed = stage.picture()
        stage.do(
            """
        const all = answers(...given);
        rows.forEach((row, k) => { for (const name in all) all[name][row] = some[name][k]; });
        map.setAnswers(all);""",
            np.array(cloud(9000))[:, 2:].T.tolist(),
        )
        whole = stage.picture()
    np.testing.assert_array_equal(changed, whole)
    assert abs(changed - before).mean() > 1


@pytest.mark.parametrize("prefer", BACKENDS)
def test_rows_that_are_not_selected_turn_grey_and_stay(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        before = stage.picture()
        stage.do("map.setSelection(Uint32Array.of(0, 5))")
        np.testing.assert_allclose(stage.pixel(0, 0), mixed(colour(0), 255, 0.95), atol=4)
        np.testing.assert_allclose(stage.pixel(1, 0), mixed(GREY["light"], 255, 0.35), atol=4)
        np.testing.assert_allclose(stage.pixel(0.75, 0.5), mixed(GREY["light"], 255, 0.35), atol=4)
        np.testing.assert_allclose(stage.pixel(0.5, 0.5), mixed(GREY["light"], 255, 0.5), atol=3)
        assert stage.do("return [map.drawn, map.at(424, 424)]") == [8, 1]
        stage.do("map.setSelection(null)")
        np.testing.assert_array_equal(stage.picture(), before)


@pytest.mark.parametrize("prefer", BACKENDS)
def test_a_delta_leaves_hidden_rows_hidden_and_grey_ones_grey(browser, prefer):
    with open_stage(browser, prefer=prefer, rows=KINDS) as stage:
        stage.do("map.setVisible(Uint8Array.of(0, 1, 1, 1, 1, 1, 1, 1))")
        stage.do("map.setSelection(Uint32Array.of(2, 3))")
        stage.do("map.changeAnswers(Uint32Array.of(0, 1), answers([4, 4], [255, 255], [1, 1]))")
        np.testing.assert_array_equal(stage.pixel(0, 0), stage.ground)
        np.testing.assert_allclose(stage.pixel(1, 0), mixed(GREY["light"], 255, 0.35), atol=4)
        stage.do("map.setVisible(null); map.setSelection(null);")
        for x in (0, 1):
            np.testing.assert_allclose(stage.pixel(x, 0), mixed(colour(4), 255, 0.95), atol=4)


@pytest.mark.parametrize("prefer", BACKENDS)
def test_selected_rows_lie_above_the_grey_ones(browser, prefer):
    crowd = [(0.5, 0.5, i % 2, 255, LABELLED) for i in range(40)]
    with open_stage(browser, prefer=prefer, rows=crowd) as stage:
        for row in (0, 17, 33):
            stage.do(f"map.setSelection(Uint32Array.of({row}))")
            own = abs(stage.pixel(0.5, 0.5) - colour(row % 2)).max()
            assert own < abs(stage.pixel(0.5, 0.5) - np.array(GREY["light"])).max()
            assert own < 20
        crowd = (
            "Uint8Array.from({ length: 40 }, (_, i) => (i === 3 ? 1 : 0))"  # the others are given
        )
        stage.do(f"map.setAnswers(answers({crowd}, new Uint8Array(40).fill(255), {crowd}))")
        stage.do("map.setSelection(Uint32Array.of(3))")
        np.testing.assert_allclose(stage.pixel(0.5, 0.5), mixed(colour(1), 255, 0.95), atol=9)


@pytest.mark.parametrize("prefer", BACKENDS)
@pytest.mark.parametrize("density", [1, 2])
def test_the_drawing_follows_the_size_of_the_canvas(browser, prefer, density):
    with open_stage(browser, prefer=prefer, rows=KINDS, device_scale_factor=density) as stage:
        stage.do('document.getElementById("stage").className = "wide"; map.resize();')
        seen = stage.picture()
        assert seen.shape == (448 * density, 648 * density, 3)
        assert stage.do("return map.toScreen(4)") == [324, 224]
        for row, code in ((0, 0), (6, 12)):
            left, top = place(*KINDS[row][:2])
            pixel = seen[int(density * top), int(density * (left + 100))]
            np.testing.assert_allclose(pixel, mixed(colour(code), 255, 0.95), atol=4)


@pytest.mark.parametrize("prefer", BACKENDS)
def test_points_move_to_new_places_and_jump_where_motion_is_unwanted(browser, prefer):
    turn = """
    const x = Float32Array.from(given, (row) => 1 - row[0]), before = map.frames;
    map.setPlaces(x, Float32Array.from(given, (row) => row[1]), [1, 1]);
    const at = map.toScreen(0)[0];
    await new Promise((done) => setTimeout(done, 800));
    return [at, map.toScreen(0)[0], map.frames - before];"""
    motion = "no-preference"
    with open_stage(browser, prefer=prefer, rows=KINDS, reduced_motion=motion) as stage:
        first, last, frames = stage.do(turn, KINDS)
        assert 24 <= first < 60
        assert last == pytest.approx(424)
        assert frames > 3
        np.testing.assert_allclose(stage.pixel(1, 0), mixed(colour(0), 255, 0.95), atol=4)
    with open_stage(browser, prefer=prefer, rows=KINDS, reduced_motion="reduce") as stage:
        first, last, frames = stage.do(turn, KINDS)
        assert first == last == pytest.approx(424)
        assert frames <= 2
        np.testing.assert_allclose(stage.pixel(1, 0), mixed(colour(0), 255, 0.95), atol=4)


def test_a_card_that_is_lost_and_found_draws_the_same_again(browser):
    with open_stage(browser, prefer="software", rows=cloud(500, sources=(1, 0, 2))) as stage:
        stage.do("map.setSelection(Uint32Array.from({ length: 99 }, (_, i) => i))")
        before = stage.picture()
        stage.do("""
        const gl = document.getElementById("points").getContext("webgl2");
        window.card = gl.getExtension("WEBGL_lose_context");
        card.loseContext();""")
        stage.do("map.changeAnswers(Uint32Array.of(), { codes: [], confidence: [], source: [] })")
        stage.do("card.restoreContext()")
        assert stage.do("return [map.backend, map.note]") == ["webgl2", ""]
        np.testing.assert_array_equal(stage.picture(), before)


def test_a_card_that_is_lost_for_good_is_replaced_and_said(browser):
    with open_stage(browser, prefer="software", rows=KINDS) as stage:
        stage.do("""
        const gl = document.getElementById("points").getContext("webgl2");
        gl.getExtension("WEBGL_lose_context").loseContext();""")
        stage.until('map.backend === "canvas"')
        stage.do("map.setPicked(0)")
        np.testing.assert_allclose(stage.pixel(0, 0), mixed(colour(0), 255, 0.95), atol=4)
        (note,) = stage.heard("note")
        assert note.startswith("Drawn without the graphics card: the connection to it was lost")
        left, top = place(0, 0)
        stage.page.mouse.click(left, top)
        assert stage.heard("pick") == [0]


def test_without_a_graphics_card_points_are_stamped_and_a_note_says_so(browser):
    with open_stage(browser, prefer="webgl2", rows=KINDS) as stage:
        note = "Drawn without the graphics card: this browser offers none here."
        assert stage.do("return [map.backend, map.note]") == ["canvas", note]
        np.testing.assert_allclose(stage.pixel(0, 0), mixed(colour(0), 255, 0.95), atol=4)


def test_the_report_is_drawn_by_a_card_where_there_is_one(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(fake_page(500, 3)), encoding="utf-8")
    renamed = """
    const own = WebGL2RenderingContext.prototype.getParameter;
    WebGL2RenderingContext.prototype.getParameter = function (name) {
      return name === 0x9246 ? "a card" : own.call(this, name);
    };"""
    with open_page(browser, viewport={"width": 900, "height": 900}) as page:
        page.add_init_script(renamed)
        page.goto(f"{path.as_uri()}#hover=17&theme=light")
        body = page.locator("body[data-state=ready]")
        told = {name: body.get_attribute(f"data-{name}") for name in ("backend", "drawn", "hover")}
        assert told == {"backend": "webgl2", "drawn": "500", "hover": "17"}
        assert page.locator("#drawing").is_hidden()


def test_above_what_a_canvas_can_draw_a_sample_is_shown_with_all_given_rows(browser):
    with open_stage(browser, prefer="canvas", rows=KINDS) as stage:
        stage.do("""
        const n = 160000, x = new Float32Array(n), y = new Float32Array(n);
        for (let i = 0; i < n; i++) { x[i] = (i % 400) / 399; y[i] = Math.floor(i / 400) / 399; }
        map.setPlaces(x, y, [1, 1]);
        map.setAnswers({ codes: new Int32Array(n), confidence: new Uint8Array(n),
                         source: Uint8Array.from(x, (_, i) => i % 100 === 0 ? 0 : 1) });""")
        assert stage.do("return map.note") == (
            "150,000 of 160,000 points are drawn, chosen at random; all given ones are."
        )
        assert stage.heard("note") == [stage.do("return map.note")]
        drawn = stage.do("return map.drawn")
        assert 150_000 <= drawn <= 150_000 + 300
        stage.do("""
        for (let k = 0; k < 9; k++) {
          map.panBy(9, 9);
          await new Promise((done) => requestAnimationFrame(done));
        }""")
        stage.until("map.drawn >= 150000")  # in motion fewer, at rest all again
        stage.do("map.reset()")
        found = stage.do(
            "return given.map((row) => map.at(...map.toScreen(row)))", [*range(0, 160000, 1600)]
        )
        assert found == [*range(0, 160000, 1600)]
        stage.do('map.setTool("rectangle")')
        drag(stage.page, [(2, 2), (300, 300), (446, 446)])
        assert stage.do("return heard.select[0][2].length") == 160_000


def test_nothing_is_there_before_places_come(browser):
    with open_stage(browser, prefer="software", rows=KINDS) as stage:
        stage.do("""
        const none = new Float32Array(0), five = [0, 1, 2, 3, 4];
        map.setPlaces(none, none, [1, 1]);
        map.setAnswers(answers(five, five, five));""")
        assert (stage.picture() == 255).all()
        assert stage.do("return map.at(224, 224)") == -1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            "map.setPlaces(new Float32Array(3), new Float32Array(2), [1, 1])",
            "3 places across and 2 up do not fit together",
        ),
        (
            'map.setPaint({ mode: "column", column: { kind: "numeric", codes: [1, 2, 3] } })',
            "a column of 3 rows cannot colour a map of 8",
        ),
        (
            'map.setPaint({ mode: "age" })',
            "the map can be coloured by class, confidence, source or column, not by age",
        ),
        (
            'map.setTool("brush")',
            'the map has no tool "brush": it has pan, lasso and rectangle',
        ),
    ],
    ids=["places", "column", "mode", "tool"],
)
def test_what_does_not_fit_is_refused_in_words(browser, call, words):
    with open_stage(browser, prefer="canvas", rows=KINDS) as stage:
        said = stage.do(f"try {{ {call} }} catch (error) {{ return [error.name, error.message]; }}")
    assert said == ["RangeError", words]


@pytest.mark.parametrize("prefer", BACKENDS)
def test_rows_of_which_nothing_is_known_yet_are_grey_dots(browser, prefer):
    with open_stage(
        browser, prefer=prefer, rows=[(*row[:2], -1, 0, UNREACHED) for row in KINDS]
    ) as stage:
        seen = stage.picture()
        left, top = (int(length) for length in place(0, 0))
        dot = seen[top - 2 : top + 3, left - 2 : left + 3].reshape(-1, 3)
        np.testing.assert_allclose(dot, np.tile(mixed(GREY["light"], 255, 0.9), (25, 1)), atol=4)


def test_the_canvas_stays_the_pages_own(browser):
    with open_stage(browser, prefer="software", rows=KINDS) as stage:
        canvas = stage.page.locator("#points")
        canvas.focus()
        assert canvas.evaluate("canvas => document.activeElement === canvas")
        assert [canvas.get_attribute(name) for name in ("role", "aria-label")] == ["img", "a map"]
        others = stage.page.locator("#stage > :not(#points)")
        assert others.count() == 1
        assert others.get_attribute("aria-hidden") == "true"


def test_a_browser_without_webgl_shows_the_map_all_the_same(browser):
    first = """
    const own = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return kind === "webgl2" ? null : own.call(this, kind, ...more);
    };"""
    with open_stage(browser, prefer="software", rows=KINDS, first=first) as stage:
        note = "Drawn without the graphics card: this browser has no WebGL2."
        assert stage.do("return [map.backend, map.note]") == ["canvas", note]
        np.testing.assert_allclose(stage.pixel(0, 0), mixed(colour(0), 255, 0.95), atol=4)
