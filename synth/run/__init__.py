"""Running the stages of synthesis over many environments at once, and going on where a run stopped."""
