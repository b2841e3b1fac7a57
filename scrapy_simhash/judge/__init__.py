"""What decides: whether two pages are near-duplicates, what follows for a page, which page stands for a cluster."""
