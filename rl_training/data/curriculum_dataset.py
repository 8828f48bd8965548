# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""verl's dataset with the rows in the order of a curriculum, and with more episodes for each in over-sampled groups.

verl 0.9.1 has no extension point for a sampler of prompts (`data.sampler` is gone). It has one for the dataset,
`data.custom_cls`. So its sampler still asks for rows by index, and in training it gets the row that is due instead.
"""

from pathlib import Path
from typing import Any

from verl.utils.dataset.rl_dataset import RLHFDataset

from rl_training.data.curriculum import Curriculum, Draw
from rl_training.data.pass_rates import Key


class CurriculumData(RLHFDataset):
    """Rows for validation keep their order. `data.curriculum` names the file of pass rates, if there is a curriculum.

    With `data.extra_episodes` a row for training says how many episodes it begins: verl's worker reads `__rollout_n__`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        extras = self.dataframe["extra_info"]
        self._draw = None
        trains = all(extra["split"] == "train" for extra in extras)
        extra_episodes = self.config.get("extra_episodes") or 0
        self._begins = self.config.kept_episodes + extra_episodes if trains and extra_episodes else None
        if trains and self.config.get("curriculum") is not None:
            told = dict(self.config.curriculum)
            self._draw = Draw(
                [Key(extra["environment"], extra["scenario"]) for extra in extras],
                Path(told.pop("pass_rates")),
                Curriculum.model_validate(told),
                step=self.config.train_batch_size,
                seed=self.config.get("seed") or 0,
            )

    def __getitem__(self, item: int) -> Any:
        row = super().__getitem__(item if self._draw is None else self._draw.next())
        return row if self._begins is None else {**row, "__rollout_n__": self._begins}
