"""What known categories lend to a new one. [Rodner2010]"""

from fewsight.transfer.classifier import Considered, TransferGPClassifier
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.lending import FEW, Suggestion, borrow_for_few, suggest_loan
from fewsight.transfer.preselection import CLOSEST, closest_lenders
from fewsight.transfer.support_search import Candidates, Ranking

__all__ = [
    "CLOSEST",
    "CRITERIA",
    "FEW",
    "Candidates",
    "Considered",
    "Ranking",
    "Suggestion",
    "TransferGPClassifier",
    "borrow_for_few",
    "closest_lenders",
    "suggest_loan",
]
