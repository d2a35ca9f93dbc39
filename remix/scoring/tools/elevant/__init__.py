"""The rules by which ELEVANT judges answers: words and kinds of mentions, nested labels, outcomes.

Source: Bast, Hertel and Prange, ELEVANT (EMNLP 2022, demonstrations), and its package `elevant.evaluation`.
"""
