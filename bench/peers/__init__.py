"""Small honest programs that do what others do, to be measured beside the farm."""
