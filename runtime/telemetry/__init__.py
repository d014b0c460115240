"""What a finished run is told as: metrics, and spans of OpenTelemetry. Both are read from the run's own records, whichever way the
question came in; nothing is measured while it is answered.
"""
