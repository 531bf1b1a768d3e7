"""How sure a Gaussian process may be of what it says about a new image, before any example is left out to see.

Latent means are told apart in units of the standard deviation of what they predict. With the noise USUAL_NOISE, `scale` being the
factor of kernel and noise that makes the targets most probable (with a free mean) and v the mean variance of a left-out
example, the logarithm of the sharpness (`calibration`) at the typical contrast is expected to be

    2.3 - 0.2 ln(c) - 0.28 ln(labels per class) - 0.5 ln(scale (v + USUAL_NOISE)),

for c classes, give or take 0.35, and ALONE more where no class has two examples; the bend is 0, give or take 0.2. Another noise
is expected to spread the logits as far as the usual one does. Where a `GPClassifier` adds up several kernels it is
PER_KERNELS ln(k) less, k being how many of them count (the inverse of the sum of their squared shares). The numbers were found on
six sets of other domains and on draws of Caltech-101 and Brodatz (seeds 100-109 of `experiments/domains`), with 1 to 50 examples
per class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp import Posterior
from fewsight.learners.balance import leave_out
from fewsight.learners.calibration import LEAST_CONTRAST, CalibrationPrior, FittedCalibration, judged_calibration
from fewsight.learners.labels import NO_CLASS, class_numbers

USUAL_NOISE = 0.2  # relative to the mean diagonal of the kernel
SHARPNESS, PER_CLASSES, PER_LABELS = 2.3, 0.2, 0.28
SHARPNESS_STD, BEND_STD = 0.35, 0.2
LEAST_LABELS = 0.7  # in the logarithm
ALONE = 0.15  # more where no class has two examples
# Of 0, 0.2, 0.3, 0.4 and 0.5 on the channels that are used by default, with and without `pretrained`; seeds 100-103.
PER_KERNELS = 0.3


@dataclass(frozen=True)
class ExpectedSpread:
    """How far the logits of left-out examples are expected to spread, whatever the noise; both are logarithms.

    spread : of the logits of examples that are left out, the root of their mean square around the mean over classes.
    growth : by how much the sharpness changes once no example is left out.
    """

    spread: float
    growth: float

    @classmethod
    def of(cls, usual: Sequence[Posterior], folds: Indices, kept: Indices, *, balanced: bool = False) -> ExpectedSpread:
        """From the posteriors under the usual noise, one of all classes or one of each, and what is left out together.

        Where nothing can be left out, what is said about the training examples themselves is taken instead.
        """
        targets = np.hstack([posterior.targets for posterior in usual])
        classes = class_numbers(targets)
        after = expected_sharpness(classes) + (0.0 if len(kept) else ALONE)
        n_folds = int(folds.max(initial=0)) + 1
        before = expected_sharpness(classes, 1.0 - 1.0 / n_folds) if len(kept) else after
        unit = float(np.mean([log_unit(posterior) for posterior in usual]))
        spread = log_spread(left_out_means(usual, folds, kept, balanced=balanced))
        return cls(unit + before + spread, after - before)

    def prior(self, mean: Array) -> CalibrationPrior:
        """For latent means (m, c) of left-out examples under any noise, or of training examples where none can be left out."""
        expected = self.spread - log_spread(mean)
        return CalibrationPrior(expected, 0.0, SHARPNESS_STD, BEND_STD, at_typical_contrast=True, growth=self.growth)


def calibrate(
    posteriors: Sequence[Posterior],
    usual: Sequence[Posterior],
    folds: Indices,
    kept: Indices,
    *,
    balanced: bool,
    n_kernels: float = 1.0,
    with_prototypes: bool = False,
) -> FittedCalibration:
    """The calibration of posteriors, one of all classes or one of each, by the examples that are kept, without their folds.

    `usual` are the same under USUAL_NOISE; `balanced` says that their targets are (`fewsight.learners.balance`), and lets every
    class count the same here as well; `n_kernels` is how many kernels count; `with_prototypes` as for `judged_calibration`. Where
    nothing can be left out, what is expected stays.
    """
    mean = left_out_means(posteriors, folds, kept, balanced=balanced)
    prior = ExpectedSpread.of(usual, folds, kept, balanced=balanced).prior(mean)
    prior = replace(prior, sharpness=prior.sharpness - PER_KERNELS * float(np.log(n_kernels)))
    classes = class_numbers(np.hstack([posterior.targets for posterior in posteriors]))
    return judged_calibration(
        mean[: len(kept)], classes[kept], balanced=balanced, prior=prior, with_prototypes=with_prototypes
    )


def left_out_means(posteriors: Sequence[Posterior], folds: Indices, kept: Indices, *, balanced: bool = False) -> Array:
    """Means (m, c) of the examples that are kept, predicted without their folds; of all, as learned, if none can be."""
    if len(kept):
        return np.hstack([leave_out(posterior, folds, balanced=balanced).mean[kept] for posterior in posteriors])
    return np.hstack([_fitted(posterior) for posterior in posteriors])


def _fitted(posterior: Posterior) -> Array:
    """Means of the training examples: K A^-1 t = t - (noise + jitter) A^-1 t."""
    return posterior.targets - (posterior.noise_variance + posterior.jitters)[:, None] * posterior.dual_weights


def expected_sharpness(classes: Indices, share: float = 1.0) -> float:
    """In units of `log_unit`, when predicting from this share of the examples of these classes (n,)."""
    counts = np.unique(classes[classes != NO_CLASS], return_counts=True)[1]
    labels = share * float((counts.astype(np.float64) ** 2).sum() / counts.sum())  # in the class of a typical example
    return SHARPNESS - PER_CLASSES * float(np.log(len(counts))) - PER_LABELS * float(np.log(max(labels, LEAST_LABELS)))


def log_unit(posterior: Posterior) -> float:
    """-ln of the standard deviation of what a latent mean predicts, at the scale that makes the targets most probable.

    For a posterior under USUAL_NOISE times the mean prior variance.
    """
    n, c = posterior.targets.shape
    ones = posterior.add_targets(np.ones((n, 1))).dual_weights[:, -1]
    misfit = float((posterior.targets * posterior.dual_weights).sum())
    scale = (misfit - float(((ones @ posterior.targets) ** 2).sum() / ones.sum())) / (max(n - 1, 1) * c)
    variance = np.maximum(posterior.leave_one_out().variance - posterior.noise_variance, 0.0).mean()
    noise = USUAL_NOISE * float(posterior.prior_variance.mean())
    return -0.5 * float(np.log(max(scale * (variance + noise), LEAST_CONTRAST)))


def log_spread(mean: Array) -> float:
    """Logarithm of the root mean square of means (m, c) around their average over classes."""
    return 0.5 * float(np.log(max(float(mean.var(axis=1).mean()), LEAST_CONTRAST**2)))
