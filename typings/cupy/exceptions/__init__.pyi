from numpy.exceptions import (
    AxisError as AxisError,
    ComplexWarning as ComplexWarning,
    RankWarning as RankWarning,
    TooHardError as TooHardError,
)
