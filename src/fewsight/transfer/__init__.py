"""What known categories lend to a new one. [Rodner2010]"""

from fewsight.transfer.choosing import Candidates, Ranking
from fewsight.transfer.classifier import Considered, TransferGPClassifier
from fewsight.transfer.criteria import CRITERIA

__all__ = ["CRITERIA", "Candidates", "Considered", "Ranking", "TransferGPClassifier"]
