"""Harris-Affine: corners with the scale and shape of their neighbourhood, which follow an affine map of the image."""

from dataclasses import asdict, replace

import cv2
import numpy as np
import pytest
from skimage import data

from fewsight._base.errors import InvalidInput
from fewsight.features import HarrisAffine
from fewsight.features.corners import ScaleSpace
from fewsight.features.harris_affine import second_moments

RADIUS = 3.0  # of a region, in scales
DISC = np.array([(x, y) for x in np.linspace(-1, 1, 21) for y in np.linspace(-1, 1, 21) if x * x + y * y <= 1])


def as_pixels(grey):
    """A picture in grey levels of 255 as pixels."""
    return np.repeat((np.asarray(grey, np.float32) / 255)[:, :, None], 3, axis=2)


def photograph(name, side=256):
    return cv2.resize(getattr(data, name)(), (side, side), interpolation=cv2.INTER_AREA)


def stretched(picture, stretch, degrees):
    """The whole picture rotated, then made wider and lower; the map is x -> M x + t."""
    turn = cv2.getRotationMatrix2D((0, 0), degrees, 1.0)[:, :2]
    M = np.diag([stretch**0.5, stretch**-0.5]) @ turn
    height, width = picture.shape
    ends = np.array([[0, 0], [width - 1, 0], [0, height - 1], [width - 1, height - 1]]) @ M.T
    t = -ends.min(axis=0)
    size = np.ceil(np.ptp(ends, axis=0)).astype(int) + 1
    A = np.column_stack([M, t])
    return cv2.warpAffine(picture, A, tuple(map(int, size)), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT), M, t


def overlap(centre, frame, other_centre, other_frame):
    """Area that two ellipses share, as a fraction of the area that they cover."""
    inside = np.linalg.solve(other_frame, (centre + DISC @ frame.T - other_centre).T)
    area, other_area = (abs(np.linalg.det(shape)) for shape in (frame, other_frame))
    shared = area * np.mean((inside**2).sum(axis=0) <= 1)
    return shared / (area + other_area - shared)


def frames(regions):
    return RADIUS * regions.scales[:, None, None] * regions.shapes


def repeatability(detector, name, stretch, degrees, least):
    """How many regions of a photograph are found again, with an overlap of at least `least`, after it was stretched."""
    picture = photograph(name)
    image, M, t = stretched(picture, stretch, degrees)
    first, second = detector.regions(as_pixels(picture)), detector.regions(as_pixels(image))
    best = []
    for centre, frame in zip(first.centres @ M.T + t, M @ frames(first), strict=True):
        near = np.linalg.norm(second.centres - centre, axis=1) < np.linalg.norm(frame, 2)
        pairs = zip(second.centres[near], frames(second)[near], strict=True)
        best.append(max((overlap(centre, frame, *pair) for pair in pairs), default=0.0))
    return np.mean(np.array(best) >= least)


def axes(regions):
    """Length through width, and direction of the length in degrees from 0 to 180."""
    values, vectors = np.linalg.eigh(regions.shapes)
    return values[:, 1] / values[:, 0], np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1])) % 180


def blob(scale, stretch, degrees, centre=(90.3, 75.6)):
    """A bright Gaussian of elliptical shape."""
    y, x = np.mgrid[:160, :200]
    angle = np.radians(degrees)
    along = np.cos(angle) * (x - centre[0]) + np.sin(angle) * (y - centre[1])
    across = -np.sin(angle) * (x - centre[0]) + np.cos(angle) * (y - centre[1])
    return as_pixels(40 + 180 * np.exp(-(along**2 / stretch + across**2 * stretch) / (2 * scale**2)))


def strongest_near(regions, centre, distance):
    return regions.select(np.flatnonzero(np.linalg.norm(regions.centres - centre, axis=1) < distance)[:1])


@pytest.mark.parametrize("name", ["camera", "brick", "coins"])
def test_adapted_regions_are_found_again_after_a_stretch_and_circles_are_not(name):
    adapted = repeatability(HarrisAffine(), name, 2.0, 30, least=0.65)
    circles = repeatability(HarrisAffine(iterations=0), name, 2.0, 30, least=0.65)
    assert adapted > 0.15
    assert adapted > 3 * circles


@pytest.mark.parametrize(("name", "stretch", "expected"), [("camera", 1.5, 0.93), ("coins", 2.5, 0.88)])
def test_the_same_place_has_the_shape_that_the_map_gives_it(name, stretch, expected):
    """Estimated in both images on their own, at places that correspond: only the shape can differ."""
    picture, detector = photograph(name), HarrisAffine()
    image, M, t = stretched(picture, stretch, 30)
    first = detector.regions(as_pixels(picture))
    there = replace(first, centres=first.centres @ M.T + t, shapes=np.tile(np.eye(2), (len(first), 1, 1)))
    second = detector._adapted(ScaleSpace(as_pixels(image)), there)
    overlaps = [overlap(0, M @ shape, 0, other) for shape, other in zip(first.shapes, second.shapes, strict=True)]
    assert np.median(overlaps) > expected
    assert overlap(0, M, 0, np.eye(2)) < 0.8  # what circles would have


def test_gradients_of_an_adapted_neighbourhood_are_isotropic():
    pixels = as_pixels(photograph("camera"))
    space, regions = ScaleSpace(pixels), HarrisAffine().regions(pixels)
    circles = HarrisAffine(iterations=0).regions(pixels)
    ratios, before = (np.divide(*np.linalg.eigvalsh(second_moments(space, r)).T[::-1]) for r in (regions, circles))
    assert np.quantile(ratios, 0.9) < 1.2
    assert np.median(before) > 2


@pytest.mark.parametrize(("stretch", "degrees"), [(1.5, 0), (1.5, 30), (2.0, 110), (2.0, 45)])
@pytest.mark.parametrize("scale", [6, 12])
def test_a_drawn_blob_is_found_with_its_scale_its_shape_and_its_direction(scale, stretch, degrees):
    region = strongest_near(HarrisAffine().regions(blob(scale, stretch, degrees)), (90.3, 75.6), scale)
    assert len(region) == 1
    assert region.scales[0] == pytest.approx(scale, rel=0.2)
    (found,), (direction,) = axes(region)
    assert found == pytest.approx(stretch, rel=0.12)
    assert abs((direction - degrees + 90) % 180 - 90) < 5


def test_a_round_blob_stays_round():
    region = strongest_near(HarrisAffine().regions(blob(8, 1, 0)), (90.3, 75.6), 1)
    np.testing.assert_allclose(region.shapes, np.eye(2)[None], atol=0.05)


def test_regions_longer_than_the_limit_are_dropped():
    pixels = as_pixels(photograph("camera"))
    kept, all_of_them = (HarrisAffine(max_stretch=limit).regions(pixels) for limit in (2.0, 1e6))
    assert axes(kept)[0].max() <= 2 < axes(all_of_them)[0].max()
    assert len(kept) < len(all_of_them)
    assert set(map(tuple, kept.centres)) < set(map(tuple, all_of_them.centres))


def test_shapes_are_symmetric_and_keep_the_area():
    shapes = HarrisAffine().regions(as_pixels(photograph("coins"))).shapes
    np.testing.assert_allclose(shapes, shapes.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(shapes), 1, rtol=1e-9)


def test_the_strongest_points_come_first_and_fewer_are_the_first_of_more():
    pixels = as_pixels(photograph("camera"))
    many, few = (HarrisAffine(max_points=n).regions(pixels) for n in (400, 50))
    assert (np.diff(many.strengths) <= 0).all()
    assert len(few) <= 50
    np.testing.assert_array_equal(few.centres, many.centres[: len(few)])
    assert HarrisAffine(threshold=10.0).regions(pixels).strengths.min() > 10


def test_the_descriptor_is_that_of_opencv_in_the_region_s_frame():
    """Circular regions of one size: an image warped by hand, patch 16, described at its middle."""
    pixels = as_pixels(cv2.GaussianBlur(photograph("coins").astype(np.float32), (0, 0), 2))
    detector = HarrisAffine(max_points=20, iterations=0, extent=18.0)
    regions, features = detector.regions(pixels), detector.describe(pixels)
    sift = cv2.SIFT_create(sigma=0.5)
    grey = pixels[:, :, 0] * 255
    for region, descriptor in zip(
        map(regions.select, np.arange(len(regions))[:, None]), features.descriptors, strict=True
    ):
        step = region.scales[0] * 18 / 16
        A = np.column_stack([step * np.eye(2), region.centres[0] - step * 20])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        smooth = cv2.GaussianBlur(grey, (0, 0), max(0.1, 0.5 * step))
        patch = cv2.warpAffine(smooth, A, (41, 41), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        _, expected = sift.compute(np.rint(patch).astype(np.uint8), [cv2.KeyPoint(20.0, 20.0, 16 / 6, 0.0)])
        cosine = expected[0] @ descriptor / (np.linalg.norm(expected) * np.linalg.norm(descriptor.astype(float)))
        assert cosine > 0.9


def test_descriptors_recognise_the_same_place_in_a_stretched_image_more_often_than_circles_do():
    picture = photograph("coins")
    image, M, t = stretched(picture, 2.0, 0)

    def recognised(detector):
        first, second = (detector.describe(as_pixels(view)) for view in (picture, image))
        size, other = (np.array(view.shape[::-1]) for view in (picture, image))
        there = (first.locations * size - 0.5) @ M.T + t
        match = cv2.BFMatcher(cv2.NORM_L2).match(*(f.descriptors.astype(np.float32) for f in (first, second)))
        found = (second.locations * other - 0.5)[[pair.trainIdx for pair in match]]
        return np.mean(np.linalg.norm(found - there, axis=1) < 3)

    assert recognised(HarrisAffine()) > 1.3 * recognised(HarrisAffine(iterations=0))


@pytest.mark.parametrize("scales", ["characteristic", "all"])
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (2, 300), (300, 2), (64, 64)])
def test_an_image_without_corners_has_no_features_and_a_tiny_one_is_no_trouble(shape, scales):
    flat = HarrisAffine(scales=scales).describe(np.full((*shape, 3), 0.5, np.float32))
    assert flat.descriptors.shape == (0, 128)
    assert flat.descriptors.dtype == np.uint8
    assert flat.locations.shape == (0, 2)
    assert flat.locations.dtype == np.float32
    noise = HarrisAffine(scales=scales).describe(np.random.default_rng(0).random((*shape, 3), dtype=np.float32))
    assert noise.descriptors.shape == (len(noise), 128)
    assert ((noise.locations >= 0) & (noise.locations <= 1)).all()


def test_the_same_image_gives_the_same_features():
    pixels = as_pixels(photograph("camera"))
    first, second = (HarrisAffine().describe(pixels) for _ in range(2))
    np.testing.assert_array_equal(first.descriptors, second.descriptors)
    np.testing.assert_array_equal(first.locations, second.locations)


def test_each_option_enters_the_recipe():
    other = {"max_points": 7, "threshold": 2.0, "scales": "all", "iterations": 0, "max_stretch": 3.0, "extent": 12.0}
    assert set(other) == set(asdict(HarrisAffine()))
    recipes = [HarrisAffine(), *(HarrisAffine(**{name: value}) for name, value in other.items())]
    assert len({str(detector.recipe()) for detector in recipes}) == 1 + len(other)


def test_bad_options_are_refused_in_one_sentence():
    with pytest.raises(
        InvalidInput, match=r"HarrisAffine: max_points must be a whole number from 1 to 30,000, got 0\."
    ):
        HarrisAffine(max_points=0)
    with pytest.raises(InvalidInput, match=r"HarrisAffine: max_stretch must be a number from 1 to 1e\+09, got 0\.5\."):
        HarrisAffine(max_stretch=0.5)
    with pytest.raises(InvalidInput, match="scales must be one of 'characteristic', 'all', got 'some'"):
        HarrisAffine(scales="some")
    for option in ("threshold", "extent"):
        with pytest.raises(InvalidInput, match=f"{option} must be a number from 0"):
            HarrisAffine(**{option: -1})
    with pytest.raises(InvalidInput, match="iterations must be a whole number from 0 to 1,000"):
        HarrisAffine(iterations=-1)


def test_local_features_carry_the_scales_and_strengths_of_their_regions():
    """Scales are in widths of the image, so that they do not depend on its resolution."""
    pixels = np.random.default_rng(1).random((80, 120, 3), dtype=np.float32)
    regions, features = HarrisAffine().regions(pixels), HarrisAffine().describe(pixels)
    assert len(features) > 0
    np.testing.assert_allclose(features.scales * 120, regions.scales, rtol=1e-6)
    np.testing.assert_allclose(features.strengths, regions.strengths, rtol=1e-6)
    assert (np.diff(features.strengths) <= 0).all()
