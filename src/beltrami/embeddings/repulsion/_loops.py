"""Compiled loops of the repulsion between all pairs of an embedding.

Points lie in tiles of `TILE` columns, one row per coordinate, so that every inner loop runs over
neighbouring numbers and is turned into vector instructions; the library's own exponential is part
of that, since a call of the system's would end it. Coordinates are scaled so that the kernel is a
power of two. Four rows of a tile meet a whole other tile at a time, and a pair of tiles is computed
once for both its sides. The same loops serve float64 and float32 tiles; sums over tiles are kept
in float64. The twin of all this is `repulsion_reference`.

Nothing here knows of estimators: arrays in, arrays out.
"""

import numpy as np

from beltrami.core.machine.compiled import njit, prange

TILE = 128
"""Points in a tile."""

_T2, _T3, _T4 = 2 * TILE, 3 * TILE, 4 * TILE
_SAFE = {"contract", "nnan", "nsz", "reassoc"}  # infinities stay what they are

# 2^f on [-1/2, 1/2], least squares of the relative error at Chebyshev points: 1e-14 and 8e-8.
_C0, _C1, _C2 = 1.0000000000000127, 0.6931471805598673, 0.24022650695650577
_C3, _C4, _C5 = 0.05550410866888302, 0.009618129191881439, 0.0013333557588817973
_C6, _C7 = 0.00015403435067401014, 1.5253000328767254e-05
_C8, _C9 = 1.3259381684426622e-06, 1.0147564549004593e-07
_S0, _S1, _S2 = np.float32(1.00000007103), np.float32(0.693146949161), np.float32(0.240221217536)
_S3, _S4 = np.float32(0.0555074261600), np.float32(0.00967545974552)
_S5 = np.float32(0.00132669703864)
_ROUND64, _LIMIT64, _SHIFT64 = 1.5 * 2**52, 1020.0, np.int64(52)
_ROUND32, _LIMIT32, _SHIFT32 = np.float32(1.5 * 2**23), np.float32(124.0), np.int32(23)


@njit(cache=True, fastmath={"contract", "nsz"})
def _powers64(s):
    """Replace s by 2^-s in place, and by zero where that is below 2^-1020."""
    for j in range(_T4):
        t = -min(s[j], _LIMIT64)
        rounded = t + _ROUND64
        f = t - (rounded - _ROUND64)
        high = (((_C9 * f + _C8) * f + _C7) * f + _C6) * f + _C5
        p = ((((high * f + _C4) * f + _C3) * f + _C2) * f + _C1) * f + _C0
        bits = np.float64(p).view(np.int64) + (np.float64(rounded).view(np.int64) << _SHIFT64)
        s[j] = np.int64(bits).view(np.float64) if s[j] < _LIMIT64 else 0.0


@njit(cache=True, fastmath={"contract", "nsz"})
def _powers32(s):
    """Replace s by 2^-s in place, and by zero where that is below 2^-124."""
    for j in range(_T4):
        t = np.float32(-min(s[j], _LIMIT32))
        rounded = np.float32(t + _ROUND32)
        f = np.float32(t - np.float32(rounded - _ROUND32))
        p = ((((_S5 * f + _S4) * f + _S3) * f + _S2) * f + _S1) * f + _S0
        k = np.int32(np.float32(rounded).view(np.int32) << _SHIFT32)
        power = np.int32(np.float32(p).view(np.int32) + k).view(np.float32)
        s[j] = power if s[j] < _LIMIT32 else np.float32(0.0)


@njit(cache=True, fastmath=_SAFE)
def _squares(left, i, shift, right, out):
    """Write the squared distances of rows i..i+3 of the left tile to the right tile.

    Four coordinates are added per sweep, so that the sums are read and written seldom.
    """
    n_axes = right.shape[0]
    first = n_axes % 4
    if first:
        p, q = right[0], right[1]
        for r in range(4):
            a, b = left[0, i + r] + shift[0], left[1, i + r] + shift[1]
            row = out[r * TILE : (r + 1) * TILE]
            for j in range(TILE):
                row[j] = (a - p[j]) * (a - p[j]) + (b - q[j]) * (b - q[j])
    else:
        out[:] = 0
    for c in range(first, n_axes, 4):
        p, q, s, t = right[c], right[c + 1], right[c + 2], right[c + 3]
        for r in range(0, 4, 2):
            k = i + r
            a0, a1 = left[c, k] + shift[c], left[c, k + 1] + shift[c]
            b0, b1 = left[c + 1, k] + shift[c + 1], left[c + 1, k + 1] + shift[c + 1]
            d0, d1 = left[c + 2, k] + shift[c + 2], left[c + 2, k + 1] + shift[c + 2]
            e0, e1 = left[c + 3, k] + shift[c + 3], left[c + 3, k + 1] + shift[c + 3]
            rows = out[r * TILE : (r + 2) * TILE]
            for j in range(TILE):
                x, y, z, w = p[j], q[j], s[j], t[j]
                rows[j] += ((a0 - x) * (a0 - x) + (b0 - y) * (b0 - y)) + (
                    (d0 - z) * (d0 - z) + (e0 - w) * (e0 - w)
                )
                rows[j + TILE] += ((a1 - x) * (a1 - x) + (b1 - y) * (b1 - y)) + (
                    (d1 - z) * (d1 - z) + (e1 - w) * (e1 - w)
                )


@njit(cache=True)
def _kernel(out, i, n_left, n_right, same):
    """Turn squared distances into the kernel; zero for a point with itself and for padding."""
    if out.itemsize == 8:
        _powers64(out)
    else:
        _powers32(out)
    for r in range(4):
        if i + r >= n_left:
            out[r * TILE : (r + 1) * TILE] = 0.0
        elif n_right < TILE:
            out[r * TILE + n_right : (r + 1) * TILE] = 0.0
        if same:
            out[r * TILE + i + r] = 0.0


@njit(cache=True, fastmath=_SAFE)
def _fetch(mutual, row, column, squares, out):
    """Copy four rows of a tile of attractions, zero beyond the matrix; return their energy."""
    energy = 0.0
    width = min(TILE, mutual.shape[1] - column)
    if width < TILE or row + 4 > mutual.shape[0]:
        out[:] = 0
    for r in range(min(4, mutual.shape[0] - row)):
        source = mutual[row + r, column : column + width]
        target = out[r * TILE : r * TILE + width]
        distances = squares[r * TILE : r * TILE + width]
        for j in range(width):
            target[j] = source[j]
            energy += source[j] * distances[j]
    return energy


@njit(cache=True, fastmath=_SAFE)
def _sums(e, columns):
    """Return the four row sums and add up the columns."""
    s0 = s1 = s2 = s3 = e[0] - e[0]  # a zero of the same type
    for j in range(TILE):
        e0, e1, e2, e3 = e[j], e[j + TILE], e[j + _T2], e[j + _T3]
        s0 += e0
        s1 += e1
        s2 += e2
        s3 += e3
        columns[j] += (e0 + e1) + (e2 + e3)
    return s0, s1, s2, s3


@njit(cache=True, fastmath=_SAFE)
def _weigh(e, m, i, left_inverse, right_inverse):
    """Multiply the kernel by 1/z_i + 1/z_j in place, and subtract the attractions m."""
    a0, a1, a2, a3 = left_inverse[i], left_inverse[i + 1], left_inverse[i + 2], left_inverse[i + 3]
    for j in range(TILE):
        x = right_inverse[j]
        e[j] = e[j] * (a0 + x) - m[j]
        e[j + TILE] = e[j + TILE] * (a1 + x) - m[j + TILE]
        e[j + _T2] = e[j + _T2] * (a2 + x) - m[j + _T2]
        e[j + _T3] = e[j + _T3] * (a3 + x) - m[j + _T3]


@njit(cache=True, fastmath=_SAFE)
def _moments(left, i, shift, right, w, sums, rows, columns):
    """Add w(y_i - y_j) over j to the rows, and over the four i the sums of w y_i to the columns."""
    w0, w1, w2, w3 = w[:TILE], w[TILE:_T2], w[_T2:_T3], w[_T3:_T4]
    for c in range(right.shape[0]):
        p = right[c]
        g = columns[c]
        u = shift[c]
        a0, a1, a2, a3 = left[c, i] + u, left[c, i + 1] + u, left[c, i + 2] + u, left[c, i + 3] + u
        s0 = s1 = s2 = s3 = u - u
        for j in range(TILE):
            x = p[j]
            s0 += w0[j] * x
            s1 += w1[j] * x
            s2 += w2[j] * x
            s3 += w3[j] * x
            g[j] += (w0[j] * a0 + w1[j] * a1) + (w2[j] * a2 + w3[j] * a3)
        rows[c, i] += a0 * sums[0] - s0
        rows[c, i + 1] += a1 * sums[1] - s1
        rows[c, i + 2] += a2 * sums[2] - s2
        rows[c, i + 3] += a3 * sums[3] - s3


@njit(cache=True, parallel=True)
def add_up(parts):
    """Return the sum of the chunks' shares, in the order of the chunks."""
    flat = parts.reshape(parts.shape[0], -1)
    n_parts, size = flat.shape
    out = np.zeros(size)
    for piece in prange((size + 4095) // 4096):
        first, last = piece * 4096, min(size, piece * 4096 + 4096)
        for k in range(n_parts):
            out[first:last] += flat[k, first:last]
    return out.reshape(parts.shape[1:])


@njit(cache=True, parallel=True)
def tile_normalizers(tiles, centres, counts, starts, partners, chunks):
    """Return the chunks' shares of z: sums of the kernel over the listed pairs of tiles.

    Tile I meets ``partners[starts[I]:starts[I + 1]]``, each pair of tiles in one of its two
    orders, and chunk k does the tiles from ``chunks[k]`` to ``chunks[k + 1]``.
    """
    n_tiles, n_axes, _ = tiles.shape
    out = np.zeros((chunks.size - 1, n_tiles, TILE))
    for k in prange(chunks.size - 1):
        e = np.empty(_T4, tiles.dtype)
        shift = np.empty(n_axes, tiles.dtype)
        columns = np.empty(TILE, tiles.dtype)
        mine = out[k]
        for left in range(chunks[k], chunks[k + 1]):
            for p in range(starts[left], starts[left + 1]):
                right = partners[p]
                same = left == right
                shift[:] = centres[left] - centres[right]
                columns[:] = 0
                for i in range(0, counts[left], 4):
                    _squares(tiles[left], i, shift, tiles[right], e)
                    _kernel(e, i, counts[left], counts[right], same)
                    s0, s1, s2, s3 = _sums(e, columns)
                    mine[left, i] += s0
                    mine[left, i + 1] += s1
                    mine[left, i + 2] += s2
                    mine[left, i + 3] += s3
                if not same:
                    for j in range(TILE):
                        mine[right, j] += columns[j]
    return out


@njit(cache=True, parallel=True)
def tile_forces(tiles, centres, counts, inverse, mutual, starts, partners, chunks):
    """Return the chunks' shares of the force over the listed pairs of tiles.

    ``inverse`` holds 1/z in the tiles' type; the lists are those of `tile_normalizers`. A
    symmetric matrix ``mutual`` of attractions, unless it is empty, is subtracted from the
    repulsions; the chunks' shares of sum_ij mutual_ij d_ij / 2 are returned as well.
    """
    n_tiles, n_axes, _ = tiles.shape
    out = np.zeros((chunks.size - 1, n_tiles, n_axes, TILE))
    energies = np.zeros(chunks.size - 1)
    for k in prange(chunks.size - 1):
        w = np.empty(_T4, tiles.dtype)
        m = np.zeros(_T4, tiles.dtype)
        shift = np.empty(n_axes, tiles.dtype)
        weights = np.empty(TILE, tiles.dtype)
        columns = np.empty((n_axes, TILE), tiles.dtype)
        mine = out[k]
        for left in range(chunks[k], chunks[k + 1]):
            a = tiles[left]
            for p in range(starts[left], starts[left + 1]):
                right = partners[p]
                b = tiles[right]
                same = left == right
                shift[:] = centres[left] - centres[right]
                weights[:] = 0
                columns[:] = 0
                for i in range(0, counts[left], 4):
                    _squares(a, i, shift, b, w)
                    if mutual.size:
                        energy = _fetch(mutual, left * TILE + i, right * TILE, w, m)
                        energies[k] += 0.5 * energy if same else energy
                    _kernel(w, i, counts[left], counts[right], same)
                    _weigh(w, m, i, inverse[left], inverse[right])
                    sums = _sums(w, weights)
                    _moments(a, i, shift, b, w, sums, mine[left], columns)
                if not same:
                    for c in range(n_axes):
                        for j in range(TILE):
                            mine[right, c, j] += b[c, j] * weights[j] - columns[c, j]
    return out, energies


@njit(cache=True)
def _gap(lows, highs, middles, radii, a, b, limit):
    """Return a lower bound of the squared distances between two tiles, any one above the limit."""
    box = 0.0
    ball = 0.0
    for c in range(lows.shape[1]):
        gap = max(0.0, lows[a, c] - highs[b, c], lows[b, c] - highs[a, c])
        box += gap * gap
        if box > limit:
            return box
        ball += (middles[a, c] - middles[b, c]) ** 2
    between = max(0.0, np.sqrt(ball) - radii[a] - radii[b])
    return max(box, between * between)


@njit(cache=True, parallel=True)
def near_partners(lows, highs, middles, radii, reaches):
    """List for each tile the tiles of the half ring after it that are within reach of either.

    Returns running counts and the list, as `tile_normalizers` takes them.
    """
    n_tiles = radii.size
    starts = np.zeros(n_tiles + 1, np.int64)
    nothing = np.empty(0, np.int64)
    for a in prange(n_tiles):
        starts[a + 1] = _near(lows, highs, middles, radii, reaches, a, nothing)
    starts = np.cumsum(starts)
    partners = np.empty(starts[n_tiles], np.int64)
    for a in prange(n_tiles):
        _near(lows, highs, middles, radii, reaches, a, partners[starts[a] : starts[a + 1]])
    return starts, partners


@njit(cache=True)
def _near(lows, highs, middles, radii, reaches, a, out):
    """Count the tiles after tile a, and itself, that are near; write them down if there is room."""
    n_tiles = radii.size
    half = n_tiles // 2 + 1 - (n_tiles % 2 == 0 and a >= n_tiles // 2)  # opposite tiles meet once
    count = 0
    for step in range(half):
        b = (a + step) % n_tiles
        reach = max(reaches[a], reaches[b])
        if _gap(lows, highs, middles, radii, a, b, reach) <= reach:
            if out.size:
                out[count] = b
            count += 1
    return count


@njit(cache=True, parallel=True)
def far_sums(
    tiles, centres, counts, inverse, samples, sizes, bounds, reaches, horizon, want_forces
):
    """Estimate what tiles out of reach add to z, or to the force, from samples of them.

    ``samples`` (n_tiles, n_axes, m) are members of the tiles, each for ``sizes`` of them, with
    their 1/z after the coordinates. Tiles more than ``horizon`` further than the reach are left
    out. Without ``want_forces`` the sums of the kernel stand in the first coordinate.
    """
    lows, highs, middles, radii = bounds
    n_tiles, n_axes, _ = tiles.shape
    m = samples.shape[2]
    out = np.zeros((n_tiles, n_axes, TILE))
    for a in prange(n_tiles):
        w = np.empty(_T4, tiles.dtype)
        none = np.zeros(_T4, tiles.dtype)
        batch = np.zeros((n_axes, TILE), tiles.dtype)
        factors = np.zeros(TILE, tiles.dtype)
        others = np.zeros(TILE, tiles.dtype)
        shift = np.zeros(n_axes, tiles.dtype)
        spare = np.zeros((n_axes, TILE), tiles.dtype)
        filled = 0
        for b in range(n_tiles):
            reach = max(reaches[a], reaches[b])
            gap = _gap(lows, highs, middles, radii, a, b, reach + horizon)
            if reach < gap <= reach + horizon:
                for k in range(m):
                    for c in range(n_axes):
                        batch[c, filled + k] = samples[b, c, k] + (centres[b, c] - centres[a, c])
                    factors[filled + k] = sizes[b]
                    others[filled + k] = samples[b, n_axes, k]
                filled += m
            if filled + m <= TILE and (b < n_tiles - 1 or filled == 0):
                continue
            for i in range(0, counts[a], 4):
                _squares(tiles[a], i, shift, batch, w)
                _kernel(w, i, counts[a], filled, False)
                for r in range(4):
                    for j in range(TILE):
                        w[r * TILE + j] *= factors[j]
                if want_forces:
                    _weigh(w, none, i, inverse[a], others)
                sums = _sums(w, spare[0])
                if want_forces:
                    _moments(tiles[a], i, shift, batch, w, sums, out[a], spare)
                else:
                    for r in range(4):
                        out[a, 0, i + r] += sums[r]
            filled = 0
    return out
