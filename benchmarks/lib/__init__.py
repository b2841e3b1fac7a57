"""What programs share, and the parts of large ones; no program is imported here."""
