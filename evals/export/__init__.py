"""Exports of rollouts as training examples, in the formats of trainers. They play nothing."""
