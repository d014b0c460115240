"""What programs import of Groundwire: `groundwire.client`, and `groundwire.testing` for tests with pytest."""
