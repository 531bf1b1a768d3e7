"""The runner: no leakage, paired seeds, broken images set aside, every combination asked for and no other."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewsight._base.errors import InvalidInput
from fewsight._base.progress import reporting, track
from fewsight.evaluation import Protocol
from fewsight.images import ImageSet
from fewsight.learners import GPClassifier

CLASSES = ["ant", "bee", "cat"]


MORE = [*CLASSES, "dog", "eel"]


HOLDING_OUT = Protocol(per_class=(2, 4), test_per_class=3, repeats=3, seed=5, hold_out=2)


def test_a_channel_is_fitted_on_training_images_only(run, make_set, mean_colour):
    evaluation = run(make_set(CLASSES))
    names = evaluation.names
    expected = [{names[i] for i in outcome.train} for outcome in evaluation.outcomes]
    tested = [{names[i] for i in outcome.test} for outcome in evaluation.outcomes]
    assert mean_colour.fitted_on == expected
    assert all(not train & test for train, test in zip(expected, tested, strict=True))
    assert mean_colour.encoded == [part for pair in zip(expected, tested, strict=True) for part in pair]


def test_images_of_held_out_categories_reach_neither_channel_nor_learner_before_the_end(
    run, make_set, mean_colour, doubting
):
    images = make_set(MORE)
    evaluation = run(images, HOLDING_OUT, learners={"doubt": doubting()})
    names = evaluation.names
    for outcome, fitted_on, taught in zip(evaluation.outcomes, mean_colour.fitted_on, doubting.taught, strict=True):
        strange = set(images.labels[outcome.held_out])
        assert len(strange) == 2
        assert len(outcome.held_out) == len(outcome.taken_for) == 6
        assert fitted_on == {names[i] for i in outcome.train}
        assert taught == set(outcome.classes) == set(MORE) - strange
        assert set(outcome.taken_for) <= taught
    assert mean_colour.encoded[1::2] == [{names[i] for i in (*o.test, *o.held_out)} for o in evaluation.outcomes]


def test_known_images_are_answered_as_if_nobody_had_held_out_anything(run, make_set, doubting):
    images = make_set(MORE)
    first, *_ = run(images, HOLDING_OUT, learners={"doubt": doubting()}).outcomes
    learned = ImageSet(images.images, [label if label in first.classes else None for label in images.labels])
    same, *_ = run(learned, Protocol(per_class=(2, 4), test_per_class=3, repeats=1, seed=5)).outcomes
    np.testing.assert_array_equal(first.test, same.test)
    np.testing.assert_array_equal(first.predicted, same.predicted)
    np.testing.assert_allclose(first.probabilities, same.probabilities, rtol=1e-6)
    assert {name: first.metrics[name] for name in ("accuracy", "log_loss")} == pytest.approx(
        {name: same.metrics[name] for name in ("accuracy", "log_loss")}
    )


def test_probabilities_and_strangeness_come_from_one_look(run, make_set, doubting):
    outcomes = run(make_set(MORE), HOLDING_OUT, learners={"doubt": doubting(threshold=0.3)}).outcomes
    assert doubting.asked == ["assess"] * len(outcomes)
    for outcome in outcomes:
        assert outcome.probabilities.shape == (9, 3)
        assert outcome.strangeness.threshold == 0.3
        np.testing.assert_array_equal(outcome.strangeness.called_unknown, outcome.strangeness.scores > 0.3)
        assert len(outcome.strangeness.scores) == 15


def test_a_learner_that_does_not_say_what_is_strange_gets_no_score(run, make_set, nearest, doubting):
    evaluation = run(make_set(MORE), HOLDING_OUT, learners={"near": nearest(), "doubt": doubting()})
    by_learner = {setting.learner: set(found) for setting, found in evaluation.summaries.items()}
    assert by_learner["doubt"] - by_learner["near"] == {"unknown_auroc", "false_alarm_rate", "found_rate"}


def test_unlike_categories_are_told_from_those_learned(run, make_set, doubting):
    evaluation = run(make_set(MORE, spread=0.005), HOLDING_OUT, learners={"doubt": doubting()})
    assert evaluation.summaries[evaluation.best]["unknown_auroc"].mean > 0.95


def test_holding_out_too_many_categories_is_refused_before_any_image_is_read(run, make_set, mean_colour):
    with pytest.raises(InvalidInput, match=r"must leave two or more categories to learn, got 2 of 3\."):
        run(make_set(CLASSES), HOLDING_OUT)
    assert not mean_colour.prepared


def test_a_channel_is_seeded_by_the_repeat(run, make_set, mean_colour):
    run(make_set(CLASSES))
    assert mean_colour.seeds == [5, 5, 6, 6, 7, 7]


def test_the_channel_and_the_learner_given_stay_as_they_were(run, make_set, mean_colour, nearest):
    channel, learner = mean_colour(), nearest()
    run(make_set(CLASSES), channels={"colour": channel}, learners={"near": learner}, n_jobs=2)
    assert (channel.random_state, channel.n_jobs, hasattr(channel, "centre_")) == (0, None, False)
    assert (learner.kernel, hasattr(learner, "classes_")) == (None, False)


def test_the_same_seed_gives_the_same_numbers(run, make_set):
    first, second = run(make_set(CLASSES)), run(make_set(CLASSES))
    for one, other in zip(first.outcomes, second.outcomes, strict=True):
        np.testing.assert_array_equal(one.test, other.test)
        np.testing.assert_array_equal(one.predicted, other.predicted)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_outcomes_hold_the_true_labels_of_their_test_images(run, make_set):
    images = make_set(CLASSES)
    for outcome in run(images).outcomes:
        np.testing.assert_array_equal(outcome.truth, images.labels[outcome.test])
        assert outcome.probabilities.dtype == np.float32
        assert outcome.probabilities.shape == (9, 3)


def test_easy_categories_are_recognised(run, make_set):
    evaluation = run(make_set(CLASSES, spread=0.01))
    assert evaluation.summaries[evaluation.best]["accuracy"].mean == 1.0


def test_each_channel_alone_and_all_together(run, make_set, mean_colour, nearest):
    channels = {"pale": mean_colour(weight=0.5), "bright": mean_colour(weight=2.0)}
    learners = {"near": nearest(), "sharp": lambda: nearest(sharpness=9.0), "kind": nearest}
    protocol = Protocol(per_class=(2,), repeats=1)
    evaluation = run(make_set(CLASSES), protocol, channels=channels, learners=learners, combine=("none", "average"))
    assert [(setting.channels, setting.combine, setting.learner) for setting in evaluation.groups] == [
        (channels, combine, learner)
        for channels, combine in [("pale", "none"), ("bright", "none"), ("pale+bright", "average")]
        for learner in learners
    ]
    together = next(o for o in evaluation.outcomes if o.setting.combine == "average")
    alone = [o for o in evaluation.outcomes if o.setting.combine == "none" and o.setting.learner == "near"]
    spent = sum(outcome.seconds["seconds_gram"] for outcome in alone)
    assert together.seconds["seconds_gram"] == pytest.approx(spent)


def test_only_the_average_can_be_asked_for(run, make_set, mean_colour):
    channels = {"pale": mean_colour(weight=0.5), "bright": mean_colour(weight=2.0)}
    evaluation = run(make_set(CLASSES), channels=channels, combine=["average"])
    assert {setting.combine for setting in evaluation.groups} == {"average"}


def test_learned_weights_are_for_learners_that_have_them_and_stand_in_the_records(run, make_set, mean_colour, nearest):
    channels = {"pale": mean_colour(weight=0.5), "bright": mean_colour(weight=2.0)}
    learners = {"gp": GPClassifier(), "near": nearest()}
    evaluation = run(make_set(CLASSES), channels=channels, learners=learners, combine=["average", "evidence"])
    learned = [setting for setting in evaluation.groups if setting.combine == "evidence"]
    assert {setting.learner for setting in learned} == {"gp"}
    for setting in learned:
        shares = [evaluation.summaries[setting][f"weight_{name}"].values for name in channels]
        np.testing.assert_allclose(np.sum(shares, axis=0), 1.0)
    assert {record["metric"] for record in evaluation.records() if record["combine"] == "evidence"} >= {
        "weight_pale",
        "weight_bright",
    }
    assert not any("weight_pale" in evaluation.summaries[s] for s in evaluation.groups if s.combine == "average")


def test_learned_weights_need_a_learner_that_learns_them(run, make_set, mean_colour, nearest):
    channels = {"pale": mean_colour(weight=0.5), "bright": mean_colour(weight=2.0)}
    with pytest.raises(
        InvalidInput, match="combine 'evidence' needs a learner that learns weights, as gp does, got near"
    ):
        run(make_set(CLASSES), channels=channels, learners={"near": nearest()}, combine=["evidence"])


def test_progress_is_told_channel_by_channel_and_nothing_inside_a_step(run, make_set, mean_colour, monkeypatch):
    heard = []

    def report(items, what, total):
        heard.append((what, total))
        return items

    encode = mean_colour.encode
    monkeypatch.setattr(mean_colour, "encode", lambda self, images: encode(self, list(track(images, "inside", 1))))
    with reporting(report):
        run(make_set(CLASSES))
    assert heard == [("Evaluating near with colour (3 repeats, 2, 4 per class)", 6)]


def test_an_interrupt_passes_through(run, make_set, mean_colour, monkeypatch):
    def interrupted(self, images, labels=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(mean_colour, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(make_set(CLASSES))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"channels": {}}, "evaluate: channels must name at least one, got none."),
        ({"learners": {}}, "evaluate: learners must name at least one, got none."),
        (
            {"combine": ("averag",)},
            "evaluate: combine must be one of 'none', 'average', 'evidence', 'l1', 'l1_even', 'l2', got 'averag'.",
        ),
        ({"combine": "none"}, "evaluate: combine must be a list of one or more words, got 'none'."),
        ({"combine": ("average",)}, "evaluate: combine 'average' needs two or more channels, got only colour."),
    ],
)
def test_what_cannot_be_evaluated_is_said(run, make_set, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        run(make_set(CLASSES), **options)


def test_one_category_is_too_few(run, make_set):
    with pytest.raises(
        InvalidInput, match=r"evaluate: the images must belong to two or more categories, got \['ant'\]\."
    ):
        run(make_set(["ant"]))


def test_what_is_no_learner_is_said(run, make_set):
    with pytest.raises(InvalidInput, match="evaluate: a learner must be a fewsight Learner, got LogisticRegression"):
        run(make_set(CLASSES), learners={"other": LogisticRegression()})
