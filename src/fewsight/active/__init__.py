"""Which example to ask about next, how good the decisions are, and when to stop. [Kapoor2010, section 7]"""

from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.pool_assessment import PoolAssessment
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import Advice
from fewsight.active.learner import ActiveLearner
from fewsight.active.pools import GramPool, ImagePool, Pool, VectorPool
from fewsight.active.relearning import Relearning
from fewsight.active.rules import (
    QUERY_RULES,
    Coverage,
    Exploration,
    Influence,
    Margin,
    Query,
    QueryRule,
    Random,
    Uncertainty,
    ValueOfInformation,
    Variance,
)
from fewsight.active.simulation import simulate
from fewsight.active.views import PoolView

__all__ = [
    "QUERY_RULES",
    "Accuracy",
    "ActiveLearner",
    "Advice",
    "Coverage",
    "Exploration",
    "GramPool",
    "ImagePool",
    "Influence",
    "Margin",
    "Pool",
    "PoolAssessment",
    "PoolView",
    "Query",
    "QueryRule",
    "Random",
    "Relearning",
    "Status",
    "Uncertainty",
    "ValueOfInformation",
    "Variance",
    "VectorPool",
    "simulate",
]
