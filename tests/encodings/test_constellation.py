"""Constellation models: likelihoods, scores and choices against brute force; what is planted is found."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.encodings.constellation import (
    Constellation,
    Gaussians,
    PointSets,
    broad_gaussian,
    climb,
    learn_constellation,
    log_binomial,
)

FLOORS = (1e-3, 1e-5)


def some_model(rng, n_parts, d=2, clutter=True):
    appearance = Gaussians(rng.normal(size=(n_parts, d)), rng.uniform(0.3, 1.5, (n_parts, d)))
    shape = Gaussians(rng.normal(size=(n_parts - 1, 2)) * 0.3, rng.uniform(0.02, 0.2, (n_parts - 1, 2)))
    broad = Gaussians(rng.normal(size=(1, d)) * 0.2, rng.uniform(1, 2, (1, d)))
    return Constellation(appearance, shape, broad if clutter else None)


def some_points(rng, counts, d=2):
    return PointSets.of([rng.normal(size=(n, d)) for n in counts], [rng.random((n, 2)) for n in counts], d)


def planted(rng, n_images, n_clutter, n_parts=3, d=4):
    """Images with a triangle of known look somewhere among random points; and where it is."""
    means, offsets = 2.5 * rng.normal(size=(n_parts, d)), np.array([[0, 0], [0.2, 0.15], [0.4, -0.1]])[:n_parts]
    looks, places, where = [], [], []
    for _ in range(n_images):
        spot = np.array([0.1, 0.3]) + 0.3 * rng.random(2)
        look = np.concatenate([means + 0.3 * rng.normal(size=means.shape), 2.0 * rng.normal(size=(n_clutter, d))])
        place = np.concatenate([spot + offsets + 0.01 * rng.normal(size=offsets.shape), rng.random((n_clutter, 2))])
        mixed = rng.permutation(len(look))
        looks.append(look[mixed])
        places.append(place[mixed])
        where.append(np.argsort(mixed)[:n_parts])
    return PointSets.of(looks, places, d), means, offsets, np.array(where)


def enumerated(model, looks, places):
    """Density, expected shares and best choice of one image by the definition, without logs of sums; points in any order."""
    order = np.lexsort((places[:, 1], places[:, 0]))
    n_parts, weights, shares = model.n_parts, {}, np.zeros((len(looks), model.n_parts))
    for choice in itertools.combinations(order.tolist(), n_parts):
        weight = np.prod(
            [
                norm.pdf(looks[point], model.appearance.means[m], np.sqrt(model.appearance.variances[m])).prod()
                for m, point in enumerate(choice)
            ]
        )
        for m, point in enumerate(choice[1:]):
            offset = places[point] - places[choice[0]]
            weight *= norm.pdf(offset, model.shape.means[m], np.sqrt(model.shape.variances[m])).prod()
        if model.clutter is not None:
            for point in set(order.tolist()) - set(choice):
                weight *= norm.pdf(looks[point], model.clutter.means[0], np.sqrt(model.clutter.variances[0])).prod()
        weights[choice] = weight
    total = sum(weights.values())
    for choice, weight in weights.items():
        shares[list(choice), np.arange(n_parts)] += weight / total
    return total / len(weights), shares, max(weights, key=weights.get)


@pytest.mark.parametrize("clutter", [True, False])
@pytest.mark.parametrize(("n_parts", "count"), [(1, 4), (2, 2), (2, 7), (3, 6), (4, 7)])
def test_likelihood_responsibilities_and_parts_equal_brute_force(n_parts, count, clutter):
    rng = np.random.default_rng(count)
    model, looks, places = (
        some_model(rng, n_parts, clutter=clutter),
        rng.normal(size=(count, 2)),
        rng.random((count, 2)),
    )
    points = PointSets.of([looks], [places], 2)
    density, shares, best = enumerated(model, looks, places)
    expected = model.expect(points)
    np.testing.assert_allclose(expected.log_likelihood, np.log(density), rtol=1e-10)
    np.testing.assert_allclose(expected.shares, shares[points.order], atol=1e-12)
    np.testing.assert_array_equal(model.localise(points), [best])


def shifted(model, kind, field, place, by):
    gaussians = getattr(model, kind)
    array = getattr(gaussians, field).copy()
    array[place] += by
    return replace(model, **{kind: gaussians._replace(**{field: array})})


@pytest.mark.parametrize("clutter", [True, False])
@pytest.mark.parametrize("n_parts", [1, 2, 4])
def test_scores_equal_finite_differences(n_parts, clutter):
    rng = np.random.default_rng(n_parts)
    model, points = some_model(rng, n_parts, clutter=clutter), some_points(rng, [6, 3, 0, 9])
    scores, found, step = model.fisher_scores(points), [], 5e-5
    assert scores.shape == (4, model.n_scores)
    for kind, field in itertools.product(("appearance", "shape"), ("means", "variances")):
        for place in np.ndindex(*getattr(model, kind).means.shape):
            far, near, back, farther_back = (
                shifted(model, kind, field, place, by * step).log_likelihood(points) for by in (2, 1, -1, -2)
            )
            found.append(
                (8 * (near - back) - (far - farther_back)) / (12 * step)
            )  # exact up to the fourth power of the step
    np.testing.assert_allclose(scores, np.array(found).T, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("clutter", [True, False])
@pytest.mark.parametrize("n_parts", [2, 3, 6])
def test_every_step_of_learning_increases_the_likelihood(n_parts, clutter):
    rng = np.random.default_rng(n_parts)
    points = some_points(rng, [12, 9, 15, 8, 20, 11], d=3)
    start = some_model(rng, n_parts, d=3, clutter=clutter)
    _, values = climb(start, points, 60, (0.05, 1e-4))
    assert len(values) > 5
    assert (np.diff(values[:-1]) > 0).all()


@pytest.mark.parametrize("clutter", [True, False])
def test_scores_average_to_zero_at_the_maximum_where_no_floor_holds(clutter):
    points = planted(np.random.default_rng(3), 30, 5)[0]
    broad = broad_gaussian(points.appearances) if clutter else None
    model = learn_constellation(
        points, 3, clutter=broad, max_steps=5_000, least_appearance_variance=1e-3, least_shape_variance=3e-5
    )
    scores = model.fisher_scores(points)
    floors = [(model.appearance, 1e-3), (model.shape, 3e-5)]
    free = np.concatenate(
        [
            part
            for gaussians, floor in floors
            for part in (np.ones(gaussians.means.size, bool), gaussians.variances.ravel() > floor)
        ]
    )
    assert free.mean() > 0.8
    spread = np.sqrt((scores**2).mean(axis=0))
    np.testing.assert_allclose((scores.mean(axis=0) / spread)[free], 0, atol=1e-4)


def test_planted_parts_are_recovered_and_localised():
    points, means, offsets, where = planted(np.random.default_rng(0), 40, 9)
    model = learn_constellation(points, 3, clutter=broad_gaussian(points.appearances), n_starts=10)
    np.testing.assert_allclose(model.appearance.means, means, atol=0.25)
    np.testing.assert_allclose(model.shape.means, offsets[1:] - offsets[0], atol=0.01)
    assert (model.localise(points) == where).mean() > 0.97


def test_the_most_probable_start_is_kept():
    points = planted(np.random.default_rng(1), 20, 6)[0]
    broad = broad_gaussian(points.appearances)
    values = [
        learn_constellation(points, 3, clutter=broad, n_starts=n, random_state=5).log_likelihood(points).mean()
        for n in (1, 3, 9)
    ]
    assert values[0] <= values[1] <= values[2]


@pytest.mark.parametrize("clutter", [True, False])
def test_an_image_with_fewer_points_than_parts_says_nothing_about_parts(clutter):
    rng = np.random.default_rng(0)
    model, points = some_model(rng, 3, clutter=clutter), some_points(rng, [0, 2, 3])
    assert (model.fisher_scores(points)[:2] == 0).all()
    assert (model.fisher_scores(points)[2] != 0).all()
    np.testing.assert_array_equal(model.localise(points)[:2], -1)
    of_clutter = model.clutter.log_density(points.appearances[:2]).sum() if clutter else 0.0
    np.testing.assert_allclose(model.log_likelihood(points)[:2], [0.0, of_clutter], atol=1e-12)
    others = points.take(np.array([2]))
    learned, alone = (learn_constellation(each, 3, clutter=None, random_state=2) for each in (points, others))
    np.testing.assert_array_equal(learned.appearance.means, alone.appearance.means)


def test_images_without_any_point_give_a_model_all_the_same():
    blank = PointSets.of([np.empty((0, 3))] * 2, [np.empty((0, 2))] * 2, 3)
    model = learn_constellation(blank, 2, clutter=broad_gaussian(blank.appearances))
    np.testing.assert_array_equal(model.log_likelihood(blank), 0)
    np.testing.assert_array_equal(model.fisher_scores(blank), np.zeros((2, model.n_scores)))
    np.testing.assert_array_equal(model.localise(blank), -np.ones((2, 2)))


def test_points_of_one_x_are_ordered_by_y_whatever_order_they_come_in():
    rng = np.random.default_rng(0)
    looks, places = rng.normal(size=(5, 2)), np.column_stack([[0.5, 0.5, 0.1, 0.5, 0.9], rng.random(5)])
    model, mixed = some_model(rng, 3), rng.permutation(5)
    one, other = (PointSets.of([looks[order]], [places[order]], 2) for order in (np.arange(5), mixed))
    np.testing.assert_allclose(model.log_likelihood(one), model.log_likelihood(other), rtol=1e-12)
    np.testing.assert_array_equal(model.localise(one), mixed[model.localise(other)])


def test_the_prior_makes_the_likelihood_of_alike_points_the_same_whatever_their_number():
    model = replace(some_model(np.random.default_rng(0), 2), clutter=None)
    sets = [PointSets.of([np.zeros((n, 2))], [np.full((n, 2), 0.5)], 2) for n in (2, 5, 50)]
    np.testing.assert_allclose(np.diff([model.log_likelihood(points)[0] for points in sets]), 0, atol=1e-9)
    np.testing.assert_allclose(np.exp(log_binomial(40, 4)), 91_390, rtol=1e-9)


def test_a_model_is_stored_and_checked():
    model = some_model(np.random.default_rng(0), 3)
    again = Constellation.from_state(model.state())
    assert again.digest == model.digest
    bare = replace(model, clutter=None)
    assert Constellation.from_state(bare.state()).clutter is None
    assert bare.digest != model.digest
    state = model.state()
    with pytest.raises(InvalidInput, match="shape_means must be float64 of shape 2 x 2, got float64 of shape 1 x 2"):
        Constellation.from_state(State(state.header, {**state.arrays, "shape_means": model.shape.means[:1]}))
    with pytest.raises(InvalidInput, match="appearance_variances must hold numbers from 1e-09"):
        Constellation.from_state(
            State(state.header, {**state.arrays, "appearance_variances": -model.appearance.variances})
        )


def test_wrong_options_are_one_sentence():
    points = some_points(np.random.default_rng(0), [4])
    with pytest.raises(InvalidInput, match="learn_constellations: n_parts must be a whole number from 1 to 6, got 7"):
        learn_constellation(points, 7, clutter=None)
    with pytest.raises(InvalidInput, match="least_shape_variance must be a number from 1e-09 to 100, got 0"):
        learn_constellation(points, 2, clutter=None, least_shape_variance=0)
