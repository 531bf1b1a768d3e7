"""Where a channel finds points and parts, as a section of the report."""

from fewsight.channels import FisherHarris
from fewsight.evaluation import Protocol

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
QUICK = {"width": 48, "smallest": 3.0, "n_starts": 1, "n_parts": 2, "max_points": 8, "n_components": 5}


def test_the_report_shows_points_parts_and_how_images_lie_under_the_scores(page, make_set):
    images = make_set(["ant", "<b>bee</b>"])
    channel = FisherHarris(**QUICK).fit(list(images.images), list(images.labels))
    text, found = page(images, ONE, parts=channel)
    assert "parts" in {attributes.get("id") for attributes in found.all("section")}
    said = {picture["alt"] for picture in found.all("img")}
    assert {"interest points as circles over images", "parts as circles in their colours over images"} <= said
    assert {"similarity of images, category by category", "images in the plane, by category"} <= said
    assert "where the 2 parts of its model most probably are" in found.text
    assert "<b>bee</b>" not in text
    _, without = page(images, ONE)
    assert "parts" not in {attributes.get("id") for attributes in without.all("section")}
