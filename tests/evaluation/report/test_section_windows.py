"""Where a learner of windows looks, as a section of the report."""

from fewsight.channels import Windows
from fewsight.evaluation import Protocol
from fewsight.learners import MKLClassifier

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
SMALL = {"n_words": 10, "n_descriptors": 500, "longest_side": 32}


def test_the_report_shows_where_each_category_is_looked_at(page, make_set):
    images = make_set(["ant", "<b>bee</b>"])
    channels = Windows(**SMALL, boxes=((0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0))).parts()
    learner = MKLClassifier(channels, norm="l2", C=10.0).fit(list(images.images), list(images.labels))
    _, found = page(images, ONE, windows=learner)
    assert "windows" in {attributes.get("id") for attributes in found.all("section")}
    assert any("windows of each category" in picture["alt"] for picture in found.all("img"))
    assert "On average a category has 2.0 of them" in " ".join(found.text.split())
    _, without = page(images, ONE)
    assert "windows" not in {attributes.get("id") for attributes in without.all("section")}
