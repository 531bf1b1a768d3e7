"""Support vector machines that learn the weights of their kernels. [Gehler2009]"""

from fewsight.learners.mkl.l1_even import learn_l1_even
from fewsight.learners.mkl.l1_weights import learn_l1
from fewsight.learners.mkl.l2_weights import learn_l2
from fewsight.learners.mkl.machine import Machine, Task
from fewsight.learners.mkl.weighted import Weighted, l1_values, l2_values

__all__ = ["Machine", "Task", "Weighted", "l1_values", "l2_values", "learn_l1", "learn_l1_even", "learn_l2"]
