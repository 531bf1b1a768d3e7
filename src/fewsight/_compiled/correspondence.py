"""How far two sets of descriptors are apart: the mean distance of a point to its nearest one in the other set. [Zhang2006;
Kapoor2010, section 8]

    d(A, B) = mean over a in A of min over b in B of |a - b|^2
    D(A, B) = (d(A, B) + d(B, A)) / 2

and the same with w^2 |p - q|^2 added to |a - b|^2, where p and q are the positions of a and b. Of two sets one of which is empty,
D is infinite; of two empty ones, 0.

Squared distances are |a|^2 + |b|^2 - 2 a.b in single precision, four points of one set at a time beside 128 of the other, whose
numbers lie side by side: products and minima stay in the nearest cache. What rounding leaves of zero is zero. Every value of a
pair is made by the same operations in the same order, whatever stands around it: D(A, B) = D(B, A) to the last bit, among any
other sets.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight._compiled._caching import compiled

Floats = npt.NDArray[np.float32]
FEW = 4  # points of the first set, and numbers of a descriptor, that are multiplied at the same time
LANES = 128  # points of the second set beside them; a set is padded to a multiple of it
FAR = np.float32(1e30)  # from everything: what pads a set
ROUNDING = np.float32(2e-6)  # of a squared distance, in sums of squared lengths
EXACT = {"contract", "nnan", "nsz"}  # nothing is added in another order


def distances_reference(
    a: Floats, p: Floats, a_starts: Indices, b: Floats, q: Floats, b_starts: Indices, distortion: float
) -> Array:
    """The definition in double precision, a pair at a time: without positions and with them (2, n, m).

    `a` (N, d) are the descriptors of n sets, from `a_starts[i]` to `a_starts[i + 1]` those of set i, at positions `p` (N, 2);
    `b`, `q` and `b_starts` likewise those of m sets. `distortion` is w.
    """
    found = np.empty((2, len(a_starts) - 1, len(b_starts) - 1))
    for i in range(found.shape[1]):
        ours = slice(a_starts[i], a_starts[i + 1])
        for j in range(found.shape[2]):
            theirs = slice(b_starts[j], b_starts[j + 1])
            plain = _squares(a[ours], b[theirs])
            distorted = plain + distortion**2 * _squares(p[ours], q[theirs])
            found[:, i, j] = [_mean_of_minima(plain), _mean_of_minima(distorted)]
    return found


def _squares(X: Floats, Z: Floats) -> Array:
    X64, Z64 = X.astype(np.float64), Z.astype(np.float64)
    return np.maximum((X64**2).sum(axis=1)[:, None] + (Z64**2).sum(axis=1)[None, :] - 2 * X64 @ Z64.T, 0.0)


def _mean_of_minima(squares: Array) -> float:
    if 0 in squares.shape:
        return 0.0 if squares.shape == (0, 0) else np.inf
    return float(squares.min(axis=1).mean() + squares.min(axis=0).mean()) / 2


@compiled(nogil=True, error_model="numpy", fastmath=EXACT)
def distances(
    a: Floats, p: Floats, a_starts: Indices, b: Floats, q: Floats, b_starts: Indices, distortion: float
) -> Array:
    """As `distances_reference`, in single precision. Each set of `b` is laid out once: let it be the side with fewer."""
    n, m = a_starts.size - 1, b_starts.size - 1
    found = np.zeros((2, n, m))
    weight = np.float32(distortion * distortion)
    ours, lengths, other_lengths = _padded(a), _squared_lengths(a), _squared_lengths(b)
    products, rows = np.zeros(FEW * LANES, np.float32), np.zeros(FEW, np.intp)
    lanes, own, xy = np.empty(2 * FEW * LANES, np.float32), np.empty(FEW, np.float32), np.empty(2 * FEW, np.float32)
    for j in range(m):
        start, stop = b_starts[j], b_starts[j + 1]
        panels, sides = _laid_out(b[start:stop], q[start:stop], other_lengths[start:stop], ours.shape[1])
        least = np.empty((len(sides), 2 * LANES), np.float32)
        for i in range(n):
            first, last = a_starts[i], a_starts[i + 1]
            if first == last or start == stop:
                found[:, i, j] = 0.0 if last - first == stop - start else np.inf
                continue
            least[:] = FAR
            plain, distorted = 0.0, 0.0
            for s in range(first, last, FEW):
                few = min(FEW, last - s)
                for r in range(FEW):  # where fewer are left, the last one again, too far away to count
                    rows[r] = min(s + r, last - 1)
                    own[r] = lengths[s + r] if r < few else FAR
                    xy[2 * r], xy[2 * r + 1] = p[rows[r], 0], p[rows[r], 1]
                lanes[:] = FAR
                for panel in range(len(panels)):
                    _multiply(ours, rows, panels[panel], products)
                    _minima(products, own, xy, weight, sides[panel], least[panel], lanes)
                for r in range(few):
                    plain += _smallest(lanes, r)
                    distorted += _smallest(lanes, FEW + r)
            back, back_there = 0.0, 0.0
            for t in range(stop - start):
                back += least[t // LANES, t % LANES]
                back_there += least[t // LANES, LANES + t % LANES]
            found[0, i, j] = (plain / (last - first) + back / (stop - start)) / 2
            found[1, i, j] = (distorted / (last - first) + back_there / (stop - start)) / 2
    return found


@numba.njit(error_model="numpy")
def _laid_out(b: Floats, q: Floats, lengths: Floats, depth: int) -> tuple[Floats, Floats]:
    """The points of a set LANES at a time: their numbers (panels, depth * LANES), number by number; and their squared lengths,
    x and y (panels, 3 * LANES)."""
    n_panels = -(-b.shape[0] // LANES)
    panels, sides = np.zeros((n_panels, depth * LANES), np.float32), np.zeros((n_panels, 3 * LANES), np.float32)
    sides[:, :LANES] = FAR
    for t in range(b.shape[0]):
        panel, lane = t // LANES, t % LANES
        sides[panel, lane], sides[panel, LANES + lane], sides[panel, 2 * LANES + lane] = lengths[t], q[t, 0], q[t, 1]
        for k in range(b.shape[1]):
            panels[panel, k * LANES + lane] = b[t, k]
    return panels, sides


@numba.njit(error_model="numpy", fastmath=EXACT)
def _multiply(ours: Floats, rows: Indices, panel: Floats, products: Floats) -> None:
    """Inner products of four points with LANES others. Places in the arrays are constant distances apart: so the compiler sees
    that what is written is never read under another name, and uses vector instructions."""
    for t in range(FEW * LANES):
        products[t] = 0
    i, j, h, m = rows[0], rows[1], rows[2], rows[3]
    for k in range(0, ours.shape[1], FEW):
        a0, a1, a2, a3 = ours[i, k], ours[i, k + 1], ours[i, k + 2], ours[i, k + 3]
        b0, b1, b2, b3 = ours[j, k], ours[j, k + 1], ours[j, k + 2], ours[j, k + 3]
        c0, c1, c2, c3 = ours[h, k], ours[h, k + 1], ours[h, k + 2], ours[h, k + 3]
        e0, e1, e2, e3 = ours[m, k], ours[m, k + 1], ours[m, k + 2], ours[m, k + 3]
        z = panel[k * LANES : (k + FEW) * LANES]
        for t in range(LANES):
            z0, z1, z2, z3 = z[t], z[LANES + t], z[2 * LANES + t], z[3 * LANES + t]
            products[t] = products[t] + a0 * z0 + a1 * z1 + a2 * z2 + a3 * z3
            products[LANES + t] = products[LANES + t] + b0 * z0 + b1 * z1 + b2 * z2 + b3 * z3
            products[2 * LANES + t] = products[2 * LANES + t] + c0 * z0 + c1 * z1 + c2 * z2 + c3 * z3
            products[3 * LANES + t] = products[3 * LANES + t] + e0 * z0 + e1 * z1 + e2 * z2 + e3 * z3


@numba.njit(error_model="numpy", fastmath=EXACT)
def _minima(
    products: Floats, lengths: Floats, xy: Floats, weight: np.float32, side: Floats, least: Floats, lanes: Floats
) -> None:
    """The smallest squared distances so far, without positions and LANES places further with them: `least` of each point of the
    panel, `lanes` of each of our four, in LANES parts."""
    one, two, three, four = lengths[0], lengths[1], lengths[2], lengths[3]
    x1, x2, x3, x4 = xy[0], xy[2], xy[4], xy[6]
    y1, y2, y3, y4 = xy[1], xy[3], xy[5], xy[7]
    for t in range(LANES):
        length, x, y = side[t], side[LANES + t], side[2 * LANES + t]
        s1 = _square(one + length, products[t])
        s2 = _square(two + length, products[LANES + t])
        s3 = _square(three + length, products[2 * LANES + t])
        s4 = _square(four + length, products[3 * LANES + t])
        d1 = s1 + weight * ((x1 - x) * (x1 - x) + (y1 - y) * (y1 - y))
        d2 = s2 + weight * ((x2 - x) * (x2 - x) + (y2 - y) * (y2 - y))
        d3 = s3 + weight * ((x3 - x) * (x3 - x) + (y3 - y) * (y3 - y))
        d4 = s4 + weight * ((x4 - x) * (x4 - x) + (y4 - y) * (y4 - y))
        least[t] = _less(least[t], _less(_less(s1, s2), _less(s3, s4)))
        least[LANES + t] = _less(least[LANES + t], _less(_less(d1, d2), _less(d3, d4)))
        lanes[t] = _less(lanes[t], s1)
        lanes[LANES + t] = _less(lanes[LANES + t], s2)
        lanes[2 * LANES + t] = _less(lanes[2 * LANES + t], s3)
        lanes[3 * LANES + t] = _less(lanes[3 * LANES + t], s4)
        lanes[4 * LANES + t] = _less(lanes[4 * LANES + t], d1)
        lanes[5 * LANES + t] = _less(lanes[5 * LANES + t], d2)
        lanes[6 * LANES + t] = _less(lanes[6 * LANES + t], d3)
        lanes[7 * LANES + t] = _less(lanes[7 * LANES + t], d4)


@numba.njit(error_model="numpy", fastmath=EXACT)
def _less(x: np.float32, y: np.float32) -> np.float32:
    return x if x < y else y


@numba.njit(error_model="numpy", fastmath=EXACT)
def _square(total: np.float32, product: np.float32) -> np.float32:
    """|a - b|^2 of the sum of squared lengths and the inner product; 0 where rounding leaves no more."""
    square = total - (product + product)
    return square if square > ROUNDING * total else np.float32(0)


@numba.njit(error_model="numpy", fastmath=EXACT)
def _smallest(lanes: Floats, r: int) -> np.float32:
    """Of LANES values, which it changes: the upper half is folded onto the lower one, twice, before they are read one by one."""
    here = lanes[r * LANES : (r + 1) * LANES]
    for t in range(LANES // 2):
        here[t] = here[t] if here[t] < here[t + LANES // 2] else here[t + LANES // 2]
    for t in range(LANES // 4):
        here[t] = here[t] if here[t] < here[t + LANES // 4] else here[t + LANES // 4]
    smallest = here[0]
    for t in range(1, LANES // 4):
        smallest = min(smallest, here[t])
    return smallest


@numba.njit(error_model="numpy", fastmath=True)
def _squared_lengths(X: Floats) -> Floats:
    lengths = np.zeros(X.shape[0], np.float32)
    for i in range(X.shape[0]):
        total = np.float32(0)
        for k in range(X.shape[1]):
            total += X[i, k] * X[i, k]
        lengths[i] = total
    return lengths


@numba.njit(error_model="numpy")
def _padded(X: Floats) -> Floats:
    """With columns of zeros behind, a multiple of FEW in all; as it is, where that is so already."""
    if X.shape[1] % FEW == 0:
        return X
    padded = np.zeros((X.shape[0], -(-X.shape[1] // FEW) * FEW), np.float32)
    padded[:, : X.shape[1]] = X
    return padded
