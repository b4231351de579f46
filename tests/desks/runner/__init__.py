"""Runs the cases."""
