"""Which categories are close in meaning, by the places of their names in WordNet. [Rodner2010, section 3.2]"""

from fewsight.transfer.wordnet.lexicon import WordNet, closest_categories
from fewsight.transfer.wordnet.locate import find_wordnet
from fewsight.transfer.wordnet.senses import Sense
from fewsight.transfer.wordnet.taxonomy import Taxonomy

__all__ = ["Sense", "Taxonomy", "WordNet", "closest_categories", "find_wordnet"]
