"""A backup of all that cannot be made again: index, journal, keys, users, profiles and settings, in one folder.

DIR/backup.json              written last: what is here, with the digest of each file
DIR/index/                   an index folder with the one snapshot that was current
DIR/journal/NAME.json, NAME.stream
DIR/state/keys.json, nats-users.json, groundwire.toml, profiles/
"""
