"""What rules see: the posterior of a pool that follows every label, or any fitted learner as it is."""

from fewsight.active.views.base import Label, Mask, View
from fewsight.active.views.fixed import FixedView
from fewsight.active.views.histogram_view import HistogramView
from fewsight.active.views.labelled import ClosedForm, Labelled, LabelledView
from fewsight.active.views.pool_view import Hyperparameters, PoolView
from fewsight.active.views.refitted import RefittedView

__all__ = [
    "ClosedForm",
    "FixedView",
    "HistogramView",
    "Hyperparameters",
    "Label",
    "Labelled",
    "LabelledView",
    "Mask",
    "PoolView",
    "RefittedView",
    "View",
]
