"""The page of an analysis: what memory costs, what explains it, and when it pays."""
