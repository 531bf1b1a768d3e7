"""The curve of accuracy over labels, as points of a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 50, 700, 24, 184


@dataclass(frozen=True)
class Curve:
    """Line and band as `d` attributes of SVG paths, with the labels of the axis below."""

    line: str
    band: str
    ticks: tuple[tuple[float, int], ...]  # place, labels
    first: tuple[int, float]  # labels, accuracy
    last: tuple[int, float]

    @classmethod
    def of(cls, points: Sequence[tuple[int, float, float, float]]) -> Curve:
        """From (labels, accuracy, low, high), in the order of labels; at least two of them."""
        first, last = points[0][0], points[-1][0]

        def x(labels: float) -> float:
            return round(LEFT + 10 + (RIGHT - LEFT - 20) * (labels - first) / max(last - first, 1), 1)

        def y(share: float) -> float:
            return round(BOTTOM - (BOTTOM - TOP) * share, 1)

        middle = min((each[0] for each in points[1:-1]), key=lambda n: abs(2 * n - first - last), default=None)
        marks = [first, *([] if middle is None else [middle]), last]
        return cls(
            line=_path([(x(n), y(share)) for n, share, _, _ in points]),
            band=_path(
                [(x(n), y(high)) for n, _, _, high in points] + [(x(n), y(low)) for n, _, low, _ in points[::-1]]
            )
            + "Z",
            ticks=tuple((x(n), n) for n in marks),
            first=(first, points[0][1]),
            last=(last, points[-1][1]),
        )


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in places)
