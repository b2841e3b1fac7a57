"""Shared code, and modules of large programs; nothing here imports a program."""
