"""A pool that is made ready part by part."""

from fewsight.active.pools.ready_parts import ReadyParts


def grown(sizes):
    """Parts of a pool that grew to these sizes, compared with after each, and what was made ready."""
    made, parts = [], None
    for size in sizes:
        parts = ReadyParts(lambda start, stop: made.append((start, stop)) or [(start, stop)], size, parts)
        parts.all()
    return parts, made


def test_the_parts_make_up_the_pool_in_its_order():
    parts, _ = grown([10, 13, 14, 40, 41, 42, 90])
    ends = [0, *(stop for _, stop in parts.parts)]
    assert [start for start, _ in parts.parts] == ends[:-1]
    assert ends[-1] == 90
    assert parts.all() == [[part] for part in parts.parts]


def test_a_pool_that_grows_one_by_one_has_few_parts_and_makes_each_example_ready_a_few_times():
    parts, made = grown(range(1, 1_001))
    assert len(parts.parts) <= 11
    assert sum(stop - start for start, stop in made) < 15 * 1_000


def test_parts_that_were_ready_are_not_made_again_and_a_pool_that_did_not_grow_makes_none():
    _, made = grown([1_000, 1_010, 1_010])
    assert made == [(0, 1_000), (1_000, 1_010)]


def test_an_empty_pool_has_no_part():
    parts, made = grown([0])
    assert (parts.all(), made) == ([], [])
