"""The drawing of accuracy over labels."""

from __future__ import annotations

import re

from fewsight.apps.web.curve import BOTTOM, LEFT, RIGHT, TOP, Curve

POINTS = [(10, 0.4, 0.2, 0.6), (40, 0.7, 0.6, 0.8), (124, 1.0, 0.9, 1.0)]


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_the_line_goes_from_left_to_right_and_up_with_accuracy() -> None:
    line = places(Curve.of(POINTS).line)
    assert line == sorted(line)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert line[-1][1] == TOP  # all right
    assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in line)


def test_the_band_holds_the_line() -> None:
    curve = Curve.of(POINTS)
    band = places(curve.band)
    upper, lower = band[:3], band[:2:-1]
    for (x, y), (x_up, y_up), (x_low, y_low) in zip(places(curve.line), upper, lower, strict=True):
        assert x == x_up == x_low
        assert y_up <= y <= y_low


def test_first_middle_and_last_labels_are_told() -> None:
    curve = Curve.of(POINTS)
    assert [n for _, n in curve.ticks] == [10, 40, 124]
    assert (curve.first, curve.last) == ((10, 0.4), (124, 1.0))
    assert [n for _, n in Curve.of(POINTS[:2]).ticks] == [10, 40]
