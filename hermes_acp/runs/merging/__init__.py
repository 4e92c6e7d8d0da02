"""Merge the finished work of cards, one after the other in each repository."""
