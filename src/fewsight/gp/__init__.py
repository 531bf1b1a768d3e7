"""Gaussian process regression on class targets: exact posterior, leave-one-out, evidence and what it teaches; and, for
examples whose Gram matrix is too large to form, the same from products with it."""

from fewsight.gp.bounded_likelihood import LikelihoodBound, Minimum, likelihood_bound, minimise
from fewsight.gp.combination import PENALTIES, LearnedWeights, Penalty, learn_weights_and_noise
from fewsight.gp.correlated_column import BorrowedColumn, borrowed_column
from fewsight.gp.correlation_path import CorrelationPaths, Inverted, LeftOut, path_inside, paths_beside
from fewsight.gp.determinant_bound import bound_from_ritz, deflated_bound, log_determinant_bound, squares_from_below
from fewsight.gp.evidence import Evidence, log_evidence_and_gradients
from fewsight.gp.evidence_growth import EvidenceSlope, GrownWeights, evidence_scale, grow_weights, sparse_weights
from fewsight.gp.gram_stack import BlockStack, GramStack, ScaledBlocks
from fewsight.gp.gram_sums import (
    GramList,
    Grams,
    GramsOnRequest,
    Matrices,
    ScaledGrams,
    as_grams,
    mean_of,
    weighted_sum,
)
from fewsight.gp.growing_posterior import FreeMeanPosterior, GrowingPosterior, KernelColumns
from fewsight.gp.iterative_posterior import (
    IterativePosterior,
    SolverOptions,
    left_out_means,
    targets_of_columns,
)
from fewsight.gp.iterative_variance import IterativeVariance
from fewsight.gp.lanczos import Quadrature, Ritz, largest_eigenvalues, quadrature, quadratures
from fewsight.gp.linear_systems import Preconditioner, Solution, conjugate_gradients
from fewsight.gp.noise import LearnedNoise, learn_noise
from fewsight.gp.noise_levels import NoiseCurve, noise_curve, noise_curves
from fewsight.gp.operators import (
    ColumnOperator,
    DenseOperator,
    LinearOperator,
    PredictiveOperator,
    Products,
    Restricted,
)
from fewsight.gp.posterior import LeaveOneOut, Posterior
from fewsight.gp.preconditioning import LowRank, LowRankPreconditioner, pivoted_cholesky
from fewsight.gp.relevance import LearnedRelevance, learn_relevance
from fewsight.gp.relevance_slopes import Slopes, WeightedOperator, evidence_slopes
from fewsight.gp.rounded_gram import RoundedGram, RoundedInverse
from fewsight.gp.sparse_posterior import FeatureSums, InducingPoints, SparsePosterior
from fewsight.gp.tasks import (
    NOISE_LADDER,
    LearnedCorrelations,
    evidence_of_correlations,
    learn_correlations,
    least_noise,
    task_covariance,
    task_factors,
)

__all__ = [
    "NOISE_LADDER",
    "PENALTIES",
    "BlockStack",
    "BorrowedColumn",
    "ColumnOperator",
    "CorrelationPaths",
    "DenseOperator",
    "Evidence",
    "EvidenceSlope",
    "FeatureSums",
    "FreeMeanPosterior",
    "GramList",
    "GramStack",
    "Grams",
    "GramsOnRequest",
    "GrowingPosterior",
    "GrownWeights",
    "InducingPoints",
    "Inverted",
    "IterativePosterior",
    "IterativeVariance",
    "KernelColumns",
    "LearnedCorrelations",
    "LearnedNoise",
    "LearnedRelevance",
    "LearnedWeights",
    "LeaveOneOut",
    "LeftOut",
    "LikelihoodBound",
    "LinearOperator",
    "LowRank",
    "LowRankPreconditioner",
    "Matrices",
    "Minimum",
    "NoiseCurve",
    "Penalty",
    "Posterior",
    "Preconditioner",
    "PredictiveOperator",
    "Products",
    "Quadrature",
    "Restricted",
    "Ritz",
    "RoundedGram",
    "RoundedInverse",
    "ScaledBlocks",
    "ScaledGrams",
    "Slopes",
    "Solution",
    "SolverOptions",
    "SparsePosterior",
    "WeightedOperator",
    "as_grams",
    "borrowed_column",
    "bound_from_ritz",
    "conjugate_gradients",
    "deflated_bound",
    "evidence_of_correlations",
    "evidence_scale",
    "evidence_slopes",
    "grow_weights",
    "largest_eigenvalues",
    "learn_correlations",
    "learn_noise",
    "learn_relevance",
    "learn_weights_and_noise",
    "least_noise",
    "left_out_means",
    "likelihood_bound",
    "log_determinant_bound",
    "log_evidence_and_gradients",
    "mean_of",
    "minimise",
    "noise_curve",
    "noise_curves",
    "path_inside",
    "paths_beside",
    "pivoted_cholesky",
    "quadrature",
    "quadratures",
    "sparse_weights",
    "squares_from_below",
    "targets_of_columns",
    "task_covariance",
    "task_factors",
    "weighted_sum",
]
