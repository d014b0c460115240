"""What a check of a file is written as: SARIF for code review, a page to read, lines on a terminal."""
