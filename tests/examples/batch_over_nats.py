"""Answer each row of a CSV file (`id,question`) into a SQLite file. Stopped at any moment, it goes on when started again.

Run: python tests/examples/batch_over_nats.py "$(groundwire nats url --index handbook.index)" questions.csv answers.db
"""

import asyncio
import contextlib
import csv
import hashlib
import json
import sqlite3
import sys

import nats
import nats.errors

AT_ONCE, PAUSE_S = 64, 1.0


async def request(client, subject, **body):
    """The reply; the request is sent again while there is none, as during a restart."""
    while True:
        with contextlib.suppress(nats.errors.Error):
            reply = json.loads((await client.request(subject, json.dumps(body).encode(), timeout=10)).data)
            if reply.get("code") != "unavailable":
                return reply
        await asyncio.sleep(PAUSE_S)


async def answer(client, row, attempt=0):
    """The record of the row's run; for a wrong question its `code` and `detail`. The run's id is derived from the row."""
    run_id = hashlib.sha256(f"{row['id']} {row['question']} {attempt}".encode()).hexdigest()[:40]
    reply = await request(client, "gw.runs.ask", run_id=run_id, question=row["question"], priority="batch")
    while reply.get("code") in ("asked", "already_asked") or reply.get("status") == "running":
        await asyncio.sleep(PAUSE_S)
        reply = await request(client, "gw.runs.get", run_id=run_id)
    if reply.get("unrun") not in ("overloaded", "withdrawn"):
        return reply  # else the run never began, and its id is used up
    return await answer(client, row, attempt + 1)


async def work(client, rows, db):
    for row in rows:  # those that no other task has taken
        if not db.execute("SELECT id FROM answers WHERE id = ?", (row["id"],)).fetchone():
            record = await answer(client, row)
            found = record.get("outcome") or record["code"], record.get("answer") or record["detail"]
            db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (row["id"], *found))


async def main(url, rows, db):
    client = await nats.connect(url, max_reconnect_attempts=-1)
    await asyncio.gather(*(work(client, rows, db) for _ in range(AT_ONCE)))
    await client.close()


if __name__ == "__main__":
    db = sqlite3.connect(sys.argv[3], isolation_level=None)
    db.execute("CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, outcome TEXT, answer TEXT)")
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        asyncio.run(main(sys.argv[1], csv.DictReader(file), db))
