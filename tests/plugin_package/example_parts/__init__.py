"""Parts that somebody else wrote for fewsight."""
