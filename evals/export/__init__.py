"""Rollouts as training examples, in the forms that trainers read. It plays nothing."""
