"""Data that ships inside the package."""
