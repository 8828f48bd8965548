"""What can go wrong in training, named after who can mend it.

TrainingError (a FarmError)
├── RowError      whoever prepared the data: a row names what the farm has not got, or does not fit the model
└── RolloutLost   nobody at once: the farm broke under an episode twice; nothing is known about the policy
"""

from servers.errors import FarmError


class TrainingError(FarmError):
    """An error of training."""


class RowError(TrainingError):
    """A row of the training data cannot be played."""


class RolloutLost(TrainingError):
    """An episode has no result: the farm failed, on a second instance too."""
