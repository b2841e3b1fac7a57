"""Shared by batch engines: the pages that are compared, the steps, and the reading and judging of a page."""
