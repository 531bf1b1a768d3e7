"""Sums over choices of parts: forward and backward sums against compiled enumeration; steps of EM; salient circles."""

from __future__ import annotations

import cv2
import numba
import numpy as np
from skimage import data

from fewsight._compiled.part_choices import LOG_TWO_PI, choice_sums
from fewsight.encodings.constellation import PointSets, _start, broad_gaussian, climb
from fewsight.features import InterestPatches

from timing import arguments, record, side_by_side, write

FLOORS = (0.05, 1e-4)


@numba.njit(error_model="numpy")
def enumerated_sums(appearance, positions, means, variances):
    """Log of the sum of all weights of one image, shares, and expected offsets and squares, choice by choice in one pass."""
    n, n_parts = appearance.shape
    choice = np.arange(n_parts)
    top, total = -np.inf, 0.0
    shares = np.zeros((n, n_parts))
    first, second = np.zeros((n_parts - 1, 2)), np.zeros((n_parts - 1, 2))
    constant = -0.5 * np.log(variances).sum() - LOG_TWO_PI * (n_parts - 1)
    while True:
        value = constant
        for m in range(n_parts):
            value += appearance[choice[m], m]
            if m > 0:
                for k in range(2):
                    offset = positions[choice[m], k] - positions[choice[0], k] - means[m - 1, k]
                    value -= 0.5 * offset * offset / variances[m - 1, k]
        if value > top:  # what was added up so far counts less
            shrunk = np.exp(top - value)
            total, shares, first, second = total * shrunk, shares * shrunk, first * shrunk, second * shrunk
            top = value
        weight = np.exp(value - top)
        total += weight
        for m in range(n_parts):
            shares[choice[m], m] += weight
            if m > 0:
                for k in range(2):
                    offset = positions[choice[m], k] - positions[choice[0], k] - means[m - 1, k]
                    first[m - 1, k] += weight * offset
                    second[m - 1, k] += weight * offset * offset
        place = n_parts - 1
        while place >= 0 and choice[place] == n - n_parts + place:
            place -= 1
        if place < 0:
            return top + np.log(total), shares / total, first / total, second / total
        choice[place] += 1
        for m in range(place + 1, n_parts):
            choice[m] = choice[m - 1] + 1


def points_of(rng: np.random.Generator, n_images: int, n_points: int, d: int) -> PointSets:
    """Random points of unit variance."""
    looks = [rng.normal(size=(n_points, d)) for _ in range(n_images)]
    return PointSets.of(looks, [rng.random((n_points, 2)) for _ in range(n_images)], d)


def recursion_against_enumeration(repeats: int) -> dict:
    """One image of 40 points, 4 parts: both give the same sums and marginals."""
    rng = np.random.default_rng(0)
    points = points_of(rng, 1, 40, 20)
    model = _start(points, 4, None, FLOORS, rng)
    looks, _ = model._log_appearance(points)
    given = looks, points.positions, points.starts, *model.shape
    log_sums, shares, first, second = choice_sums(*given)
    expected = enumerated_sums(looks, points.positions, *model.shape)
    for ours, theirs in zip((log_sums[0], shares, first[0], second[0]), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
    seconds = side_by_side(
        lambda: choice_sums(*given), lambda: enumerated_sums(looks, points.positions, *model.shape), repeats
    )
    return record("forward and backward sums, 40 points, 4 parts", *seconds, "compiled enumeration of 91,390 choices")


def steps_of_learning(n_images: int, n_steps: int) -> dict:
    """6 parts of 100 points in 100 images."""
    rng = np.random.default_rng(0)
    points = points_of(rng, n_images, 100, 20)
    start = _start(points, 6, broad_gaussian(points.appearances), FLOORS, rng)
    climb(start, points, 1, FLOORS)
    taken = []

    def learn() -> None:
        taken.append(len(climb(start, points, n_steps, FLOORS)[1]) - 1)

    seconds, _ = side_by_side(learn, lambda: None, 1)
    name = f"{taken[0]} steps of learning, 6 parts, 100 points, {n_images} images"
    print(f"{name}: {seconds:.2f} s")
    return {"name": name, "ours_seconds": seconds, "steps": taken[0]}


def salient_circles_of_photographs(repeats: int) -> dict:
    """At 250 pixels of width, resizing and patches included."""
    detector = InterestPatches(detector="kb", width=250)
    photos = [photo.astype(np.float32) / 255 for photo in (data.astronaut()[:340], data.coffee(), data.chelsea())]
    for photo in photos:
        detector.describe(photo)
    seconds = side_by_side(lambda: [detector.describe(photo) for photo in photos], lambda: None, repeats)[0] / len(
        photos
    )
    print(f"Kadir-Brady, 250 pixels wide: {seconds:.3f} s for one photograph")
    return {"name": "Kadir-Brady at 250 pixels of width, one photograph", "ours_seconds": seconds}


def main() -> None:
    options = arguments(__doc__).parse_args()
    cv2.setNumThreads(1)
    repeats = 5 if options.quick else 25
    records = [
        recursion_against_enumeration(repeats),
        salient_circles_of_photographs(repeats),
        steps_of_learning(10 if options.quick else 100, 50),
    ]
    write(records, options.json)


if __name__ == "__main__":
    main()
