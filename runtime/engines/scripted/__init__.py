"""The engine of tests and benches, and the playback of replies that are known already."""
