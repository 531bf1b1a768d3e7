"""Harris-Affine points with descriptors against OpenCV's Harris-Laplace with its SIFT, which knows circles only."""

from __future__ import annotations

import cv2
import numpy as np
from skimage import data, transform

from fewsight.features import HarrisAffine

from timing import arguments, record, side_by_side, write


def photographs(side: int) -> list[np.ndarray]:
    """The colour photographs of scikit-image's wheel, their longest side made `side` pixels."""
    originals = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket(), data.immunohistochemistry()]
    return [
        transform.rescale(photo, side / max(photo.shape), channel_axis=2, anti_aliasing=True).astype(np.float32)
        for photo in originals
    ]


def bare_call(grey: np.ndarray) -> int:
    """Detect with OpenCV's defaults, describe upright; the number of points."""
    keypoints = cv2.xfeatures2d.HarrisLaplaceFeatureDetector.create().detect(grey)
    upright = [cv2.KeyPoint(*point.pt, 18 / 6 * point.size / 6, 0.0) for point in keypoints]
    return len(cv2.SIFT_create().compute(grey, upright)[0])


def main() -> None:
    options = arguments(__doc__).parse_args()
    cv2.setNumThreads(1)
    photos, repeats = photographs(300), 3 if options.quick else 15
    greys = [np.rint(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY) * 255).astype(np.uint8) for photo in photos]
    theirs_points = sum(map(bare_call, greys))
    records = []
    for detector in (HarrisAffine(), HarrisAffine(scales="all"), HarrisAffine(iterations=0)):
        points = sum(len(detector.describe(photo)) for photo in photos)
        seconds = side_by_side(
            lambda detector=detector: [detector.describe(photo) for photo in photos],
            lambda: [bare_call(grey) for grey in greys],
            repeats,
        )
        shape = "ellipses" if detector.iterations else "circles"
        name = f"{points} {shape}, scales {detector.scales}, {len(photos)} photographs of 300 pixels"
        peer = f"OpenCV's Harris-Laplace and SIFT, {theirs_points} circles"
        records.append(record(name, *seconds, peer, points=points, theirs_points=theirs_points))
    write(records, options.json)


if __name__ == "__main__":
    main()
