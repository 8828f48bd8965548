"""Facts in free text: what an answer tells, and whether it tells what was asked. Pure functions, no input or output."""
