"""Ways to choose what to ask about next. A rule is added by adding it to QUERY_RULES; one of another
package by `fewsight.register` or an entry point."""

from __future__ import annotations

from fewsight._base.checks import check_choice
from fewsight._base.registry import Registry
from fewsight.active.rules.base import Query, QueryRule
from fewsight.active.rules.coverage import Coverage
from fewsight.active.rules.exploration import Exploration
from fewsight.active.rules.influence import Influence
from fewsight.active.rules.random import Random
from fewsight.active.rules.uncertainty import Margin, Uncertainty
from fewsight.active.rules.value_of_information import ValueOfInformation
from fewsight.active.rules.variance import Variance

_CLASSES: tuple[type[QueryRule], ...] = (
    *(Uncertainty, Margin, Variance, Random, Coverage, ValueOfInformation, Exploration, Influence),
)
QUERY_RULES: Registry[QueryRule] = Registry("query rule", QueryRule, _CLASSES, group="fewsight.query_rules")


def as_rule(owner: object, rule: str | QueryRule) -> QueryRule:
    """A rule as it is, or the one of that name with its defaults."""
    return rule if isinstance(rule, QueryRule) else QUERY_RULES[check_choice(owner, "rule", rule, QUERY_RULES)]()


__all__ = [
    "QUERY_RULES",
    "Coverage",
    "Exploration",
    "Influence",
    "Margin",
    "Query",
    "QueryRule",
    "Random",
    "Uncertainty",
    "ValueOfInformation",
    "Variance",
    "as_rule",
]
