"""The stages of a run, one file each, and the pure cores they share. Imports `bus`, `prompts` and `index`."""
