"""Numerical checks of gradients and rules, for tests."""

from gradwrap.testing.gradients import check_grads as check_grads
from gradwrap.testing.numerical import GradientMismatchError as GradientMismatchError
from gradwrap.testing.rules import RuleMismatchError as RuleMismatchError
from gradwrap.testing.rules import RuleReport as RuleReport
from gradwrap.testing.rules import check_rule as check_rule
