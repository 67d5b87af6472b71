"""The list of contests, in full size and as toys: the same code at the same place of the list."""

from dataclasses import dataclass
from functools import partial

from benchmarks.peers import measures, ours, problems
from benchmarks.peers.adapters import faiss, pyamg, pynndescent, scikit_learn, scipy
from benchmarks.peers.contest import Contest


@dataclass(frozen=True)
class Scale:
    """The sizes of one list of contests."""

    images: str
    texts: str
    n_images: int
    n_texts: int
    n_roll: int
    n_large: int
    n_small_images: int
    n_digits: int
    n_moons: int
    few: int
    many: int
    most: int
    growth: tuple[int, ...]


FULL = Scale(
    images="mnist",
    texts="newsgroups",
    n_images=60_000,
    n_texts=19_997,
    n_roll=60_000,
    n_large=1_000_000,
    n_small_images=10_000,
    n_digits=1797,
    n_moons=10_000,
    few=50,
    many=200,
    most=1000,
    growth=(10_000, 20_000, 40_000, 60_000),
)
# Above the sizes at which our solvers turn to dense ones, so that the same code runs.
TOY = Scale(
    images="digits",
    texts="words",
    n_images=1200,
    n_texts=500,
    n_roll=1500,
    n_large=2000,
    n_small_images=1100,
    n_digits=1150,
    n_moons=1050,
    few=10,
    many=20,
    most=40,
    growth=(1050, 1200, 1350, 1500),
)


def contests(*, toy: bool = False) -> list[Contest]:
    """Return every contest."""
    scale = TOY if toy else FULL
    return [
        *_neighbors(scale),
        *_bases(scale),
        *_systems(scale),
        *_clusters(scale),
        *_growth(scale),
    ]


def _neighbors(scale: Scale) -> list[Contest]:
    euclidean = partial(
        Contest,
        "8-NN",
        problems.problem_name(scale.images, scale.n_images),
        partial(problems.points, scale.images, scale.n_images),
        ours.neighbors,
        measures.missed_neighbors,
        gap=measures.recall_gap,
        tolerance=1e-3,
    )
    return [
        euclidean(peer=faiss.flat, peer_name="faiss flat", needs="faiss"),
        euclidean(
            peer=pynndescent.descent,
            peer_name="pynndescent",
            needs="pynndescent",
            tolerance=0.02,
            note="peer approximate: gap = neighbours missed; its 25 s of compiling not timed",
        ),
        euclidean(peer=scikit_learn.brute, peer_name="scikit-learn brute"),
        Contest(
            "8-NN by angle, sparse",
            problems.problem_name(scale.texts, scale.n_texts),
            partial(problems.points, scale.texts, scale.n_texts),
            partial(ours.neighbors, metric="angle"),
            measures.missed_neighbors,
            peer=partial(scikit_learn.brute, metric="angle"),
            peer_name="scikit-learn brute",
            gap=measures.recall_gap,
            tolerance=1e-3,
        ),
    ]


def _basis(scale: Scale, p: int, kind: str = "normalized", n: int = 0, **more: object) -> Contest:
    n = n or scale.n_images
    return Contest(
        f"{p} eigenvectors, {kind}",
        f"{problems.problem_name(scale.images, n)} binary",
        partial(problems.graph, scale.images, n),
        partial(ours.basis, p=p, kind=kind),
        partial(measures.largest_residual, kind=kind),
        gap=measures.eigenvalue_gap,
        tolerance=1e-2,
        match=partial(measures.same_residual, kind=kind),
        **more,
    )


def _bases(scale: Scale) -> list[Contest]:
    few, many = scale.few, scale.many
    return [
        _basis(scale, few, peer=partial(scipy.arpack, p=few), peer_name="ARPACK"),
        _basis(scale, many, peer=partial(scipy.arpack, p=many), peer_name="ARPACK"),
        _basis(
            scale,
            few,
            peer=partial(pyamg.aggregation_lobpcg, p=few),
            peer_name="LOBPCG + pyamg",
            needs="pyamg",
        ),
        _basis(
            scale,
            few,
            "combinatorial",
            peer=partial(scipy.arpack, p=few, kind="combinatorial"),
            peer_name="ARPACK",
        ),
        _basis(
            scale,
            few,
            n=scale.n_small_images,
            peer=partial(scikit_learn.embedding, p=few),
            peer_name="scikit-learn SpectralEmbedding",
            note="fewer nodes: the peer's factorisation fills up",
        ),
        _basis(scale, scale.most),
    ]


def _systems(scale: Scale) -> list[Contest]:
    peers = (
        (scipy.jacobi_cg, "scipy Jacobi-CG", ""),
        (pyamg.aggregation_cg, "pyamg", "pyamg"),
    )
    rows = [
        _system(scale.images, scale.n_images, "binary", 1e-4, solver, peer)
        for solver in ("auto", "cholesky")
        for peer in peers
    ]
    for source, n, weights in (
        (scale.images, scale.n_images, "heat"),
        ("swiss", scale.n_roll, "binary"),
    ):
        rows += [
            _system(source, n, weights, 1e-6, solver, peer)
            for solver in ("auto", "cholesky")
            for peer in peers
        ]
    direct = (scipy.superlu, "scipy splu", "")
    # Factorisation at home, on a surface, and where fill limits it to few nodes.
    rows.append(_system("swiss", scale.n_roll, "binary", 1e-6, "auto", direct))
    rows.append(_system(scale.images, scale.n_small_images, "binary", 1e-4, "auto", direct))
    rows.append(_system("swiss", scale.n_large, "binary", 1e-6, "auto", None))
    return rows


def _system(
    source: str, n: int, weights: str, shift: float, solver: str, peer: tuple | None
) -> Contest:
    side, name, needs = peer or (None, "", "")
    return Contest(
        f"solve 10 columns, {solver}",
        f"{problems.problem_name(source, n)} {weights}, shift {shift:g}",
        partial(problems.system, source, n, weights, shift, reference=peer is not None),
        partial(ours.solution, solver=solver),
        measures.relative_residual,
        peer=side,
        peer_name=name,
        gap=measures.energy_gap,
        remark=measures.energy_errors,
        # A residual of 1e-8 bounds this by 1e-8 times the root of the condition number.
        tolerance=1e-4,
        needs=needs,
    )


def _clusters(scale: Scale) -> list[Contest]:
    cases = (
        ("digits", scale.n_digits, 10),
        (scale.images, scale.n_small_images, 10),
        ("moons", scale.n_moons, 2),
    )
    return [
        Contest(
            f"{k} clusters",
            f"{problems.problem_name(source, n)} binary",
            partial(problems.graph, source, n),
            partial(ours.clusters, n_clusters=k),
            measures.disagreement,
            peer=partial(scikit_learn.clusters, n_clusters=k),
            peer_name="scikit-learn SpectralClustering",
            gap=measures.cut_gap,
            tolerance=0.5,
            note="error = 1 - adjusted Rand index; gap = excess of the worse normalised cut",
        )
        for source, n, k in cases
    ]


def _growth(scale: Scale) -> list[Contest]:
    rows = []
    for n in scale.growth:
        name = problems.problem_name(scale.images, n)
        rows += [
            Contest(
                "growth: 8-NN",
                name,
                partial(problems.points, scale.images, n),
                ours.neighbors,
                measures.missed_neighbors,
                growth="8-NN",
            ),
            Contest(
                "growth: eigenvectors",
                f"{name} binary",
                partial(problems.graph, scale.images, n),
                partial(ours.basis, p=scale.few),
                measures.largest_residual,
                growth=f"{scale.few} eigenvectors, normalized",
            ),
            Contest(
                "growth: solve",
                f"{name} binary, shift 0.0001",
                partial(problems.system, scale.images, n, "binary", 1e-4, reference=False),
                ours.solution,
                measures.relative_residual,
                growth="solve 10 columns, auto",
            ),
        ]
    return rows
