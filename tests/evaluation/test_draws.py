"""Draws are made of images that can be read; the others are set aside."""

import pytest

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.evaluation import Protocol
from fewsight.images import ImageSet

CLASSES = ["ant", "bee", "cat"]
MORE = [*CLASSES, "dog", "eel"]
HOLDING_OUT = Protocol(per_class=(2, 4), test_per_class=3, repeats=3, seed=5, hold_out=2)


def test_a_broken_image_of_a_held_out_category_is_replaced_as_any_other(run, make_set, doubting):
    images = make_set(MORE, broken={(i, 3) for i in range(5)})
    evaluation = run(images, HOLDING_OUT, learners={"doubt": doubting()})
    asked = {i for outcome in evaluation.outcomes for i in outcome.held_out}
    assert not any("broken" in evaluation.names[i] for i in asked)
    assert all(len(outcome.held_out) == 6 for outcome in evaluation.outcomes)


def test_a_broken_image_is_dropped_listed_and_replaced(run, make_set):
    images = make_set(CLASSES, broken={(0, 1), (2, 5)})
    protocol = Protocol(images_per_class=7, per_class=(3,), test_per_class=4, repeats=4)
    evaluation = run(images, protocol)
    assert sorted(error.name for error in evaluation.unreadable) == ["ant/broken1.png", "cat/broken5.png"]
    for outcome in evaluation.outcomes:
        assert (len(outcome.train), len(outcome.test)) == (9, 12)
        assert not any("broken" in evaluation.names[i] for i in (*outcome.train, *outcome.test))


def test_many_broken_images_end_in_a_draw_without_them(run, make_set, mean_colour):
    broken = {(i, j) for i in range(3) for j in range(0, 60, 2)}
    evaluation = run(make_set(CLASSES, per_class=60, broken=broken), Protocol(5, (2,), 2, repeats=1))
    assert len(evaluation.outcomes[0].test) == 6
    assert len(mean_colour.prepared) == len(set(mean_colour.prepared))


def test_a_class_with_too_few_readable_images_is_refused_with_the_reason(run, make_set):
    images = make_set(CLASSES, per_class=4, broken={(1, 0), (1, 1)})
    with pytest.raises(
        InvalidInput, match=r"bee \(2\).*2 could not be read, the first of them: bee/broken0.png: it is b"
    ):
        run(images, Protocol(per_class=(3,), repeats=1))


def test_a_failure_that_belongs_to_no_image_is_raised(run, make_set, mean_colour, monkeypatch):
    monkeypatch.setattr(mean_colour, "prepare", lambda self, images: [UnreadableImage("elsewhere.png", "gone")])
    with pytest.raises(UnreadableImage, match="elsewhere"):
        run(make_set(CLASSES))


def test_what_was_unreadable_while_listing_is_kept(run, make_set):
    images = make_set(CLASSES)
    images.unreadable.append(UnreadableImage("ant/notes.jpg", "not an image"))
    assert [error.name for error in run(images).unreadable] == ["ant/notes.jpg"]


def test_unlabelled_images_take_no_part(run, make_set):
    images = make_set(CLASSES)
    labels = [None if i % 8 == 7 else label for i, label in enumerate(images.labels)]
    evaluation = run(ImageSet(images.images, labels))
    used = {i for outcome in evaluation.outcomes for i in (*outcome.train, *outcome.test)}
    assert not {i % 8 for i in used} & {7}


def test_local_features_count_where_the_channel_keeps_them(run, make_set, mean_colour, monkeypatch):
    protocol = Protocol(per_class=(2,), test_per_class=3, repeats=1)
    seconds = iter(range(0, 10_000, 100))
    monkeypatch.setattr("fewsight.evaluation.draws.perf_counter", lambda: float(next(seconds)))
    kept = run(make_set(CLASSES), protocol, channels={"colour": mean_colour(cache="somewhere")})
    forgotten = run(make_set(CLASSES), protocol, channels={"colour": mean_colour()})
    assert kept.outcomes[0].seconds["seconds_features"] > 100
    assert forgotten.outcomes[0].seconds["seconds_features"] < 100
