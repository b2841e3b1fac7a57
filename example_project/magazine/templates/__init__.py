"""The page templates, one per module. A template converts content to markup with slots."""
