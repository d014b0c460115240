"""The index over OpenSearch, for what one machine does not hold: a body of `Backend` and of `Sink` (../backend.py, ../sink.py).

We analyse, it matches: our analyzers' terms and our vectors go in, both rankings come out with their scores, and fusion happens
here as everywhere. layout.py has the documents and how a snapshot becomes visible; client.py holds opensearch-py, queries.py
the query language, analysis.py the terms. May import from `index`.
"""
