"""One module per page template. A template turns content into markup with slots, and decides nothing else."""
