"""Frames that are larger than memory: a folder of Parquet files in parts, each with whole documents."""
