"""Image networks: ONNX files read with care, run within bounds; and one whose weights arrive by pip."""

from fewsight.features.networks.image_network import ImageNetwork, Wishes
from fewsight.features.networks.onnx_file import OnnxFile, read_onnx
from fewsight.features.networks.pretrained import (
    GET_PRETRAINED,
    WEIGHTS_NAME,
    pretrained_is_there,
    pretrained_network,
)
from fewsight.features.networks.session import GET_ONNX, onnxruntime_is_there

__all__ = [
    "GET_ONNX",
    "GET_PRETRAINED",
    "WEIGHTS_NAME",
    "ImageNetwork",
    "OnnxFile",
    "Wishes",
    "onnxruntime_is_there",
    "pretrained_is_there",
    "pretrained_network",
    "read_onnx",
]
