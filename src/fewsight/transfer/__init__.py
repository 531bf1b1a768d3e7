"""What known categories lend to a new one. [Rodner2010]"""

from fewsight.transfer.averaging import LOG_WEIGHTS
from fewsight.transfer.classifier import Considered, TransferGPClassifier
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.lending import (
    FEW,
    NoLoan,
    Suggestion,
    borrow_for_few,
    consider_loan,
    loans_for_few,
    suggest_loan,
)
from fewsight.transfer.preselection import CLOSEST, closest_lenders
from fewsight.transfer.support_search import Candidates, Ranking

__all__ = [
    "CLOSEST",
    "CRITERIA",
    "FEW",
    "LOG_WEIGHTS",
    "Candidates",
    "Considered",
    "NoLoan",
    "Ranking",
    "Suggestion",
    "TransferGPClassifier",
    "borrow_for_few",
    "closest_lenders",
    "consider_loan",
    "loans_for_few",
    "suggest_loan",
]
