"""What programs import of Groundwire: `groundwire.client`, and `groundwire.testing` for pytest. All packages import `wire`."""
