"""Which implementation runs the hot arrows. The pure Python code is the definition, and so far the only one."""

#: Named in the log line at the start of a crawl.
NAME = "pure"
