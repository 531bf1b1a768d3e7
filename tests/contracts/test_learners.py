"""Every exported learner satisfies the contract: it is covered by standing in LEARNERS."""

import importlib
import pkgutil
from inspect import isabstract

import pytest

from fewsight.learners import LEARNERS, KernelLearner, Learner
from fewsight.persistence import KINDS
from fewsight.testing import KERNEL_LEARNER_CHECKS, LEARNER_CHECKS, ROW_LEARNER_CHECKS, TWO_CLASS_CHECKS


def every_learner_class(base=Learner):
    """All classes of fewsight that are learners and not abstract."""
    for folder in ("learners", "transfer"):
        package = importlib.import_module(f"fewsight.{folder}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    below = [kind for child in base.__subclasses__() for kind in (child, *every_learner_class(child))]
    return [kind for kind in dict.fromkeys(below) if kind.__module__.startswith("fewsight.") and not isabstract(kind)]


def named(item):
    return item.__name__


@pytest.mark.parametrize("kind", LEARNERS.values(), ids=named)
@pytest.mark.parametrize("check", LEARNER_CHECKS, ids=named)
def test_every_learner_satisfies_the_contract(check, kind):
    check(kind())


def of_rows():
    """Every check with every learner that takes rows; scikit-learn's many fits are a slow test where each of them is long."""
    for kind in (kind for kind in LEARNERS.values() if kind.needs.takes_rows):
        for check in ROW_LEARNER_CHECKS:
            slow = kind.name in ("span_bound", "infinite") and check.__name__ == "it_keeps_scikit_learns_contract"
            marks = [pytest.mark.slow] if slow else []
            yield pytest.param(check, kind, id=f"{named(check)}-{named(kind)}", marks=marks)


@pytest.mark.parametrize(("check", "kind"), list(of_rows()))
def test_every_learner_of_rows_satisfies_their_contract(check, kind):
    check(kind())


@pytest.mark.parametrize("kind", [kind for kind in LEARNERS.values() if issubclass(kind, KernelLearner)], ids=named)
@pytest.mark.parametrize("check", KERNEL_LEARNER_CHECKS, ids=named)
def test_every_learner_of_gram_matrices_satisfies_their_contract(check, kind):
    check(kind())


@pytest.mark.parametrize("kind", [kind for kind in every_learner_class() if kind.name not in LEARNERS], ids=named)
@pytest.mark.parametrize("check", TWO_CLASS_CHECKS, ids=named)
def test_learners_of_one_category_satisfy_the_contract_as_well(check, kind):
    check(kind())


def test_every_learner_is_registered_under_its_name_and_can_be_stored():
    assert {kind.name: kind for kind in LEARNERS.values()} == LEARNERS
    assert set(every_learner_class()) <= set(KINDS.values())
    assert len({kind.title for kind in LEARNERS.values()}) == len(LEARNERS)
