"""What programs import of Groundwire: `groundwire.client`."""
