"""Studies: systems × remixes × partitions, computed step by step, and the tables, figures and sentences made of them.

A study is asked for in a TOML file; its steps fill `Results`, a record of declared tables; each exhibit (a table or a
figure of a paper, or sentences) is one file in `exhibits/` that looks at nothing but the results.
"""
