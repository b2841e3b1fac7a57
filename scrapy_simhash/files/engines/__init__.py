"""What batch engines share: which pages are compared, in what steps, and how each page is read and judged."""
