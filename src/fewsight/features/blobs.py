"""Blobs in a Gaussian scale space: peaks of differences of Gaussians, and of the determinant of the Hessian.

[Lowe2004; Mikolajczyk2004]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import cv2
import numpy as np

from fewsight.features.corners import FINEST, LEVELS, Picture, Regions, ScaleSpace, peaks_above, refined_centres

EDGE = 10.0  # curvatures in a larger ratio are those of an edge


def gaussian_differences(space: ScaleSpace, *, threshold: float) -> Regions:
    """Circles where neighbouring scales differ by more than `threshold` grey levels, more than anywhere around and at the scales
    below and above; none on edges."""
    return _extrema(space, _differences, threshold)


def hessian_blobs(space: ScaleSpace, *, threshold: float) -> Regions:
    """Circles where both second derivatives have one sign and the root of their product, in grey levels over one scale, is more
    than `threshold`, and than anywhere around and at the scales below and above."""
    return _extrema(space, _determinants, threshold)


def _extrema(space: ScaleSpace, respond: Callable[[list[Picture]], list[Picture]], threshold: float) -> Regions:
    """Peaks of the responses over place and scale, from the finest scale to the coarsest; `scales` are those of the pictures."""
    centres, scales, strengths = [np.empty((0, 2))], [np.empty(0)], [np.empty(0)]
    for octave, pictures in enumerate(space.octaves):
        responses = respond(pictures)
        for level in range(1, LEVELS + 1):
            below, here, above = responses[level - 1 : level + 2]
            peaks = peaks_above(here, threshold)
            wins = (here[peaks] > _highest_around(below)[peaks]) & (here[peaks] > _highest_around(above)[peaks])
            peaks = peaks[0][wins], peaks[1][wins]
            centres.append(refined_centres(here, peaks) * 2.0**octave)
            scales.append(np.full(len(peaks[0]), FINEST * 2.0 ** (octave + level / LEVELS)))
            strengths.append(here[peaks].astype(np.float64))
    return Regions.circles(np.concatenate(centres), np.concatenate(scales), np.concatenate(strengths))


def _highest_around(response: Picture) -> Picture:
    highest: Picture = cv2.dilate(response, np.ones((3, 3), np.uint8))
    return highest


def _differences(pictures: list[Picture]) -> list[Picture]:
    """How far each picture is from the next, and zero on edges."""
    found = []
    for finer, coarser in itertools.pairwise(pictures):
        difference = coarser - finer
        xx, xy, yy = _second_derivatives(difference)
        determinant, trace = xx * yy - xy * xy, xx + yy
        blob = trace * trace * EDGE < (EDGE + 1.0) ** 2 * determinant
        found.append(np.where(blob, np.abs(difference), np.float32(0)))
    return found


def _determinants(pictures: list[Picture]) -> list[Picture]:
    """The root of the determinant of the Hessian times the square of the scale, zero where that is negative."""
    found = []
    for level, picture in enumerate(pictures):
        xx, xy, yy = _second_derivatives(picture)
        squared_scale = np.float32(FINEST**2 * 2.0 ** (2 * level / LEVELS))
        found.append(squared_scale * np.sqrt(np.maximum(xx * yy - xy * xy, np.float32(0))))
    return found


def _second_derivatives(picture: Picture) -> tuple[Picture, Picture, Picture]:
    """Along x twice, along both, along y twice; per pixel."""
    xx = cv2.Sobel(picture, cv2.CV_32F, 2, 0, ksize=1)
    xy = cv2.Sobel(picture, cv2.CV_32F, 1, 1, ksize=3, scale=0.25)
    yy = cv2.Sobel(picture, cv2.CV_32F, 0, 2, ksize=1)
    return xx, xy, yy
