"""Which images show the same photograph: whole, cropped, resized or mirrored.

`duplicates.py` compares whole images. A crop is found by its points instead: corners with binary descriptors (ORB) that occur in
both images, the larger one's lying where a single scaling, rotation and shift of the smaller one's puts them. Then the pixels
have to agree as well: over what both show, the grey values of one correlate with those of the other. How this was measured:
docs/duplicates.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, final

import cv2
import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.parallel import map_pieces
from fewsight._base.progress import silent
from fewsight._base.types import State
from fewsight.images.cache import FeatureCache
from fewsight.images.image import Image

WORKING_SIDE = 320  # pixels of the longest side
N_POINTS = 150  # of an image
FAST_THRESHOLD = 10  # of a corner, in grey values: a smooth crop has few strong ones
MOST_BITS = 48  # of 256, by which the descriptors of one point may differ
LEAST_MATCHES = 8  # points that two images must have in common before their places are looked at
LEAST_INLIERS = 7  # of these, at the place that one scaling, rotation and shift gives
PLACE_ERROR = 4.0  # pixels
SCALES = (0.2, 5.0)  # of one image in the other
LEAST_OVERLAP = 24  # pixels of a side of what both show
LEAST_CORRELATION = 0.9  # of grey values over what both show
RECIPE = {"kind": "photograph_points", "version": 1}
_BYTES = 32  # of a descriptor


class Match(NamedTuple):
    """Two images of one photograph, by their positions, and how well the grey values of what both show correlate."""

    one: int
    other: int
    correlation: float
    mirrored: bool


class Points(NamedTuple):
    """Corners of an image at WORKING_SIDE: where they are (n, 2), x before y, and what they look like (n, 32)."""

    locations: npt.NDArray[np.float32]
    descriptors: npt.NDArray[np.uint8]


def shared_photographs(
    few: Sequence[Image],
    many: Sequence[Image],
    *,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
) -> list[Match]:
    """The pairs of an image of `few` and one of `many` that show the same photograph, mirror images and crops included.

    Images that cannot be read are like no other. Every image of `few` is compared with all of `many`; what was computed for one
    of `many` is kept in the cache.
    """
    known = map_pieces(partial(_kept_points, cache=cache), list(many), n_jobs=n_jobs, what="looking for photographs")
    owners = np.repeat(np.arange(len(many)), [len(points.locations) for points in known])
    locations = np.concatenate([points.locations for points in known]) if known else np.empty((0, 2), np.float32)
    descriptors = np.concatenate([points.descriptors for points in known]) if known else np.empty((0, _BYTES), np.uint8)
    found: list[Match] = []
    for position, image in enumerate(few):
        try:
            grey = grey_of(image)
        except UnreadableImage:
            continue
        best: dict[int, Match] = {}
        for mirrored in (False, True):
            turned = np.ascontiguousarray(grey[:, ::-1]) if mirrored else grey
            for other, own, theirs in _candidates(points_of(turned), Points(locations, descriptors), owners):
                correlation = _agreement(turned, own, many[other], theirs)
                match = Match(position, other, correlation, mirrored)
                if correlation >= LEAST_CORRELATION and (other not in best or correlation > best[other].correlation):
                    best[other] = match
        found.extend(best[other] for other in sorted(best))
    return found


@final
class SamePhotographs:
    """Whether two categories show the same photographs; a pair is looked at when it is first asked about."""

    def __init__(
        self,
        images: Sequence[Image],
        labels: Iterable[object],
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._images: dict[object, list[Image]] = {}
        for image, label in zip(images, labels, strict=True):
            self._images.setdefault(label, []).append(image)
        self._cache, self._n_jobs = cache, n_jobs
        self._known: dict[frozenset[object], bool] = {}

    def __call__(self, one: object, other: object) -> bool:
        pair = frozenset((one, other))
        if pair not in self._known:
            few, many = sorted((self._images.get(name, []) for name in (one, other)), key=len)
            with silent():
                found = shared_photographs(few, many, cache=self._cache, n_jobs=self._n_jobs)
            self._known[pair] = bool(found)
        return self._known[pair]


def grey_of(image: Image) -> npt.NDArray[np.uint8]:
    """Grey values (h, w). Raises UnreadableImage."""
    pixels = np.ascontiguousarray(image.pixels(WORKING_SIDE))
    return np.asarray(cv2.convertScaleAbs(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), alpha=255.0), np.uint8)


def points_of(grey: npt.NDArray[np.uint8]) -> Points:
    """The strongest corners of an image of grey values."""
    create: Any = cv2.ORB.create
    corners, descriptors = create(nfeatures=N_POINTS, fastThreshold=FAST_THRESHOLD).detectAndCompute(grey, None)
    if descriptors is None:
        return _no_points()
    return Points(np.array([corner.pt for corner in corners], np.float32), np.asarray(descriptors, np.uint8))


def _no_points() -> Points:
    return Points(np.empty((0, 2), np.float32), np.empty((0, _BYTES), np.uint8))


def _kept_points(image: Image, cache: FeatureCache | None) -> Points:
    """As `points_of`; none if the image cannot be read."""
    try:
        if cache is None:
            return points_of(grey_of(image))
        key = FeatureCache.key_of("photograph_points", image.content_hash, RECIPE)
        stored = cache.get(key)
        with contextlib.suppress(InvalidInput):
            if stored is not None:
                locations = stored.array("locations", (None, 2), np.float32, least=0.0, most=float(WORKING_SIDE))
                return Points(locations, stored.array("descriptors", (len(locations), _BYTES), np.uint8))
        points = points_of(grey_of(image))
        cache.put(key, State({}, points._asdict()))
        return points
    except UnreadableImage:
        return _no_points()


def _candidates(
    own: Points, known: Points, owners: npt.NDArray[np.intp]
) -> list[tuple[int, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Images that have enough points in common with this one, and where these are in both."""
    if len(own.locations) < LEAST_MATCHES or len(known.locations) < LEAST_MATCHES:
        return []
    matcher = cv2.BFMatcher(cv2.NORM_HAMMING)
    pairs = [
        (match.queryIdx, match.trainIdx)
        for matches in matcher.radiusMatch(own.descriptors, known.descriptors, float(MOST_BITS))
        for match in matches
    ]
    if not pairs:
        return []
    queries, hits = np.array(pairs, np.intp).T
    found = []
    images, counts = np.unique(owners[hits], return_counts=True)
    for image in images[counts >= LEAST_MATCHES]:
        rows = owners[hits] == image
        if len(np.unique(queries[rows])) >= LEAST_MATCHES and len(np.unique(hits[rows])) >= LEAST_MATCHES:
            found.append((int(image), own.locations[queries[rows]], known.locations[hits[rows]]))
    return found


def _agreement(
    grey: npt.NDArray[np.uint8], own: npt.NDArray[np.float32], other: Image, theirs: npt.NDArray[np.float32]
) -> float:
    """The correlation over what both show, where one scaling, rotation and shift explains the points; -1 where none does."""
    transform, inliers = cv2.estimateAffinePartial2D(
        own, theirs, method=cv2.RANSAC, ransacReprojThreshold=PLACE_ERROR, maxIters=500, confidence=0.99
    )
    if transform is None or int(inliers.sum()) < LEAST_INLIERS:
        return -1.0
    scale = float(np.hypot(transform[0, 0], transform[1, 0]))
    if not SCALES[0] <= scale <= SCALES[1]:
        return -1.0
    try:
        target = grey_of(other)
    except UnreadableImage:
        return -1.0
    if scale > 1.0:  # the smaller one of the two decides: what is enlarged has no detail to compare
        transform, grey, target = cv2.invertAffineTransform(transform), target, grey
    height, width = target.shape
    warped = cv2.warpAffine(grey, transform, (width, height), flags=cv2.INTER_AREA)
    shown = cv2.warpAffine(np.full_like(grey, 255), transform, (width, height), flags=cv2.INTER_NEAREST) == 255
    rows, columns = (np.flatnonzero(shown.any(axis=axis)) for axis in (1, 0))
    if min(len(rows), len(columns)) < LEAST_OVERLAP:
        return -1.0
    one, two = (cv2.GaussianBlur(values, (0, 0), 1.5)[shown].astype(float) for values in (warped, target))
    apart = one.std() * two.std()
    return float(((one - one.mean()) * (two - two.mean())).mean() / apart) if apart > 0 else -1.0
