"""The contracts: what every kernel, channel, learner, query rule and kernel family must satisfy, ours and other people's.

    from fewsight.testing import check_kernel

    def test_my_kernel():
        check_kernel(MyKernel(width=2.0))

Each `check_...` runs all checks of its kind and raises at the first that fails; the tuples `..._CHECKS` hold them one by one, for
a test runner that shows them by name. Nothing here needs pytest.
"""

from fewsight.testing.channel_checks import CHANNEL_CHECKS, check_channel
from fewsight.testing.family_checks import FAMILY_CHECKS, check_family
from fewsight.testing.kernel_checks import KERNEL_CHECKS, ROW_KERNEL_CHECKS, check_kernel
from fewsight.testing.learner_checks import (
    KERNEL_LEARNER_CHECKS,
    LEARNER_CHECKS,
    ROW_LEARNER_CHECKS,
    TWO_CLASS_CHECKS,
    check_learner,
)
from fewsight.testing.rule_checks import RULE_CHECKS, check_rule

__all__ = [
    "CHANNEL_CHECKS",
    "FAMILY_CHECKS",
    "KERNEL_CHECKS",
    "KERNEL_LEARNER_CHECKS",
    "LEARNER_CHECKS",
    "ROW_KERNEL_CHECKS",
    "ROW_LEARNER_CHECKS",
    "RULE_CHECKS",
    "TWO_CLASS_CHECKS",
    "check_channel",
    "check_family",
    "check_kernel",
    "check_learner",
    "check_rule",
]
