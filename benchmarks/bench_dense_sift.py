"""Dense SIFT against the bare OpenCV call on the same images: what our grid, conversion and packing add."""

from __future__ import annotations

import cv2
import numpy as np
from skimage import data, transform

from fewsight.features import DenseSift

from timing import arguments, record, side_by_side, write


def photographs(side: int) -> list[np.ndarray]:
    """The colour photographs of scikit-image's wheel, their longest side made `side` pixels."""
    originals = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket(), data.immunohistochemistry()]
    return [
        transform.rescale(photo, side / max(photo.shape), channel_axis=2, anti_aliasing=True).astype(np.float32)
        for photo in originals
    ]


def bare_calls(photo: np.ndarray, ours: DenseSift) -> list[tuple[np.ndarray, list[cv2.KeyPoint]]]:
    """Everything the bare calls need, made beforehand: for each scale the grey bytes and the keypoints."""
    grey = np.rint(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY) * 255).astype(np.uint8)
    calls = []
    for scale in ours.scales:
        size = [round(side / scale) for side in grey.shape[::-1]]
        small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale > 1 else grey
        points = DenseSift(step=ours.step, scales=(scale,)).describe(photo).locations * np.float32(small.shape[::-1])
        calls.append((small, [cv2.KeyPoint(float(x), float(y), ours.patch / 6, 0.0) for x, y in points]))
    return calls


def main() -> None:
    options = arguments(__doc__).parse_args()
    photos, repeats = photographs(300), 5 if options.quick else 25
    sift = cv2.SIFT_create(0, 3, 0.04, 10, 1.6, descriptorType=cv2.CV_8U)
    records = []
    for scales in ((1.0,), (1.0, 1.5, 2.0)):
        ours = DenseSift(step=8, scales=scales)
        prepared = [bare_calls(photo, ours) for photo in photos]
        for photo, calls in zip(photos, prepared, strict=True):
            theirs = np.concatenate([sift.compute(grey, points)[1] for grey, points in calls])
            assert np.mean(np.abs(ours.describe(photo).descriptors.astype(int) - theirs) > 1) < 1e-3
        seconds = side_by_side(
            lambda ours=ours: [ours.describe(photo) for photo in photos],
            lambda prepared=prepared: [sift.compute(*call) for calls in prepared for call in calls],
            repeats,
        )
        name = f"dense SIFT, step 8, patch 16, scales {scales}, {len(photos)} photographs of 300 pixels"
        records.append(record(name, *seconds, "the bare OpenCV calls"))
    write(records, options.json)


if __name__ == "__main__":
    main()
