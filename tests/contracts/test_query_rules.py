"""Every query rule satisfies the contract: it is covered by standing in QUERY_RULES."""

import numpy as np
import pytest

from fewsight.active import QUERY_RULES, Margin, Uncertainty
from fewsight.kernels import RBF
from fewsight.learners import NearestNeighbourClassifier, SVMClassifier
from fewsight.testing import RULE_CHECKS
from fewsight.testing.rule_checks import LABELLED, LABELS, POOL

RULES = [*(rule() for rule in QUERY_RULES.values()), Uncertainty("each"), Margin("each")]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("check", RULE_CHECKS, ids=lambda check: check.__name__)
def test_every_rule_satisfies_the_contract(check, rule):
    check(rule)


@pytest.mark.parametrize("kind", [SVMClassifier, NearestNeighbourClassifier])
@pytest.mark.parametrize("name", ["margin", "uncertainty", "random", "coverage"])
def test_learners_that_are_no_gaussian_processes_are_asked_by_rules_that_need_none(kind, name):
    learner = kind(RBF(scale=2.0)).fit(LABELLED, LABELS[2])
    query = QUERY_RULES[name]().query(learner, POOL, batch_size=5)
    assert len(np.unique(query.indices)) == 5
