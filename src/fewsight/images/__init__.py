"""Images: reading files safely, image sets, seeded splits, the sample set and the disk cache."""

from fewsight._base.errors import UnreadableImage
from fewsight.images.cache import FeatureCache, default_cache_folder
from fewsight.images.duplicates import Duplicates, KnownLooks, find_duplicates
from fewsight.images.image import Image, ImageArray, ImageBytes, ImageFile, as_image, thumbnail
from fewsight.images.image_set import ImageSet, image_set_from_class_folders, images_in
from fewsight.images.reading import read_pixels
from fewsight.images.sample_set import sample_set, write_sample_set
from fewsight.images.splits import Split, draw_split
from fewsight.images.table import image_set_from_table

__all__ = [
    "Duplicates",
    "FeatureCache",
    "Image",
    "ImageArray",
    "ImageBytes",
    "ImageFile",
    "ImageSet",
    "KnownLooks",
    "Split",
    "UnreadableImage",
    "as_image",
    "default_cache_folder",
    "draw_split",
    "find_duplicates",
    "image_set_from_class_folders",
    "image_set_from_table",
    "images_in",
    "read_pixels",
    "sample_set",
    "thumbnail",
    "write_sample_set",
]
