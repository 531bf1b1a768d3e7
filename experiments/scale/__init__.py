"""Many images: how long learning and predicting take, how much memory, and what is lost by it."""
