"""The engine for tests and benchmarks, and the playback of known replies, which other engines use too."""
