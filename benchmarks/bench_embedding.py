"""The channel `pretrained`: decoding, resizing and the network apart, onnxruntime against OpenCV's dnn, one image at a time
against batches, and images a second on two processors. Needs fewsight[pretrained].
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
import onnxruntime
from PIL import Image as Pillow
from skimage import data

from fewsight.channels import Pretrained
from fewsight.features.networks import pretrained_network
from fewsight.features.networks.efficientnet import efficientnet_lite0
from fewsight.features.networks.pretrained import _weights_file
from fewsight.features.networks.torch_weights import read_torch_weights
from fewsight.images import ImageFile

from timing import _seconds, arguments, record, side_by_side, write

BUDGET = 1 / 30  # seconds for an image, on two processors


def photographs(folder: Path, side: int, n: int) -> list[ImageFile]:
    """JPEG files of scikit-image's photographs, cut differently, their longest side `side` pixels."""
    originals = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket(), data.immunohistochemistry()]
    files = []
    for number in range(n):
        photo = Pillow.fromarray(originals[number % len(originals)][number // 5 :, number // 7 :])
        photo.thumbnail((side, side))
        buffer = io.BytesIO()
        photo.save(buffer, "JPEG", quality=90)
        path = folder / f"{side}-{number}.jpg"
        path.write_bytes(buffer.getvalue())
        files.append(ImageFile(path))
    return files


def alone(name: str, work: Callable[[], Any], n: int, repeats: int, budget: float | None = None) -> dict[str, Any]:
    """Median seconds of one image, without a peer."""
    work()
    seconds = median(_seconds(work) for _ in range(repeats)) / n
    print(f"{name}: {seconds * 1e3:.2f} ms an image, {1 / seconds:.0f} a second")
    return {"name": name, "ours_seconds": seconds, **({} if budget is None else {"budget_seconds": budget})}


def stages(images: list[ImageFile], side: int, repeats: int) -> list[dict[str, Any]]:
    """What each step costs one processor, and all of them two."""
    network, n = pretrained_network(), len(images)
    pixels = [image.pixels(480) for image in images]
    tensors = [network.preparation.tensor(each) for each in pixels]
    name = f"photographs of {side} pixels, one thread"
    channel = Pretrained(n_jobs=2)
    return [
        alone(f"decode, {name}", lambda: [image.pixels(480) for image in images], n, repeats),
        alone(f"resize, {name}", lambda: [network.preparation.tensor(each) for each in pixels], n, repeats),
        alone(f"network, {name}", lambda: [network._session.run(each, "") for each in tensors], n, repeats),
        alone(
            f"all of it, photographs of {side} pixels, two threads",
            lambda: channel.local_features(images),
            n,
            repeats,
            BUDGET,
        ),
    ]


def engines(repeats: int) -> list[dict[str, Any]]:
    """The same graph and the same input, one thread each."""
    graph = efficientnet_lite0(read_torch_weights(_weights_file().read_bytes(), "weights"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    cv2.setNumThreads(1)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(graph, np.uint8))
    tensor = np.random.default_rng(0).normal(size=(1, 3, 224, 224)).astype(np.float32)
    batch = np.repeat(tensor, 8, axis=0)

    def ours(given: np.ndarray) -> np.ndarray:
        return session.run(None, {"pixels": given})[0]

    def theirs() -> np.ndarray:
        net.setInput(tensor)
        return net.forward()

    np.testing.assert_allclose(ours(tensor), theirs(), atol=1e-4)
    np.testing.assert_allclose(ours(batch)[:1], ours(tensor), atol=1e-4)
    opencv = side_by_side(lambda: [ours(tensor) for _ in range(8)], lambda: [theirs() for _ in range(8)], repeats)
    batches = side_by_side(lambda: [ours(tensor) for _ in range(8)], lambda: ours(batch), repeats)
    return [
        record("network, 8 images, one thread", *opencv, "OpenCV's dnn"),
        record("network, 8 images one by one, one thread", *batches, "the same as one batch"),
    ]


def main() -> None:
    options = arguments(__doc__).parse_args()
    repeats = 3 if options.quick else 9
    records = engines(repeats)
    with tempfile.TemporaryDirectory() as folder:
        for side, n in ((300, 40), (1400, 10)):
            records += stages(photographs(Path(folder), side, n), side, repeats)
    write(records, options.json)


if __name__ == "__main__":
    main()
