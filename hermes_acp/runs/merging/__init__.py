"""Merge the finished work of cards, one at a time in each repository."""
