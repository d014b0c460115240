"""Metrics and OpenTelemetry spans of finished runs, read from their records; nothing is measured while a run goes on."""
