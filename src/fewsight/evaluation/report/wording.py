"""Names and numbers as the report words them."""

from __future__ import annotations

import re

from fewsight.evaluation.active_curves import ActiveCurves
from fewsight.evaluation.baselines import Comparison
from fewsight.evaluation.outcomes import Setting
from fewsight.evaluation.results import Summary
from fewsight.learners import LEARNERS

# Lone surrogates (bytes of a file name that are not UTF-8), control characters, and marks that reorder text.
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# What a channel looks at, in words that need no explanation; a channel that is not named here is shown without.
CUES = {
    "spatial_pmk": "structures and their layout",
    "dense_pmk": "structures and their layout, piece by piece",
    "vocabulary_pmk": "structures and their layout, group by group",
    "windows": "structures in parts of the image",
    "pooled_words": "structures that are present, and where",
    "geometric_blur": "structures at edges, matched one by one",
    "geometric_blur_distortion": "structures at edges and where they are, matched one by one",
    "harris_pmk": "structures around corners",
    "fisher_kb": "parts where much happens, and their arrangement",
    "fisher_dog": "parts at spots, and their arrangement",
    "fisher_harris": "parts at corners, and their arrangement",
    "fisher_hessian": "parts at blobs, and their arrangement",
    "opponent_sift": "structures in colour and their layout",
    "phog": "outlines",
    "texture": "fine texture",
    "colour": "colours",
    "pretrained": "what a network learned from other photographs",
    "embedding": "what your network sees",
    "vectors": "your own numbers",
}


def shown_name(name: object) -> str:
    """A name of a file or a category as it can be displayed: whatever is no character becomes U+FFFD."""
    text = _NOT_SHOWN.sub("\ufffd", str(name))
    return text if text.strip() else "(blank)"


def short_path(name: object) -> str:
    """The last two parts of a path: enough to recognise a file by, without the folders above."""
    parts = [part for part in re.split(r"[/\\]", shown_name(name)) if part]
    return "/".join(parts[-2:]) or "(blank)"


def learner_name(learner: str) -> str:
    """A learner as the report calls it."""
    known = LEARNERS.get(learner)
    return shown_name(learner) if known is None else known.title


def learner_note(learner: str) -> str | None:
    """What a learner is, in a sentence; None for one that is not registered."""
    known = LEARNERS.get(learner)
    return None if known is None else f"{known.title}: {known.note}"


def channels_name(setting: Setting) -> str:
    """The channels of a setting as the report calls them."""
    names = shown_name(setting.channels).replace("+", " + ")
    return names if setting.combine == "none" else f"{names} ({shown_name(setting.combine)})"


def setting_name(setting: Setting) -> str:
    """A learner with its channels."""
    return f"{learner_name(setting.learner)} with {channels_name(setting)}"


def percent(share: float, digits: int = 1) -> str:
    """A share of one as per cent; the space does not break."""
    return f"{100 * share:.{digits}f}\u00a0%"


def spread(summary: Summary | None, factor: float = 1.0, digits: int = 1) -> str:
    """Mean and standard deviation, as far as there is one."""
    if summary is None:
        return "–"
    std = "" if summary.std is None else f" ± {factor * summary.std:.{digits}f}"
    return f"{factor * summary.mean:.{digits}f}{std}"


def seconds(value: float) -> str:
    """A duration at a precision that a person can use."""
    if value < 60:
        return f"{value:.3f} s" if value < 0.1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 repeat`, `10 repeats`, `9,145 images`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def headline(setting: Setting, accuracy: Summary, n_classes: int) -> str:
    """The result in one line."""
    return (
        f"{setting_name(setting)}: {percent(accuracy.mean)} of test images right, "
        f"from {counted(setting.per_class, 'example')} per category, {n_classes} categories"
    )


def asking_in_words(asking: ActiveCurves) -> str:
    """Whether asking for labels pays, in one line."""
    openings = {"better": "", "alike": " made no clear difference here", "worse": " did not help here"}
    asked, random = asking.needed
    return (
        f"Asking for labels{openings[asking.verdict]}: {100 * asking.target:.0f} % right after {counted(asked, 'label')}; "
        f"with random labels it takes {random:,}."
    )


def comparison_in_words(comparison: Comparison) -> str:
    """Whether fewsight is worth it, in one line."""
    needed, all_labels = comparison.needed, comparison.labels[-1]
    best = f"the best of the others, {learner_name(comparison.strongest.learner).lower().replace('svm', 'SVM')}"
    reached = (
        f"{best}, is right in {percent(comparison.target)} of test images after {counted(all_labels, 'random label')}"
    )
    if needed is None:
        return f"{reached[0].upper()}{reached[1:]}; fewsight did not reach that with {counted(all_labels, 'label')} it asked for."
    if needed == all_labels:
        return f"{reached[0].upper()}{reached[1:]}; fewsight needed as many, though it chose them itself."
    return f"{reached[0].upper()}{reached[1:]}; fewsight got there with {counted(needed, 'label')} it asked for."
