"""Answer each row of a CSV file (`id,question`) into a SQLite file with FastStream's broker. Start it again after any stop.

Run: python tests/examples/batch_with_faststream.py "$(groundwire nats url --index handbook.index)" questions.csv answers.db
"""

import asyncio
import contextlib
import csv
import hashlib
import json
import sqlite3
import sys

from faststream.nats import NatsBroker

AT_ONCE, PAUSE_S = 64, 1.0


async def request(broker, subject, **body):
    """The reply; the request is sent again while there is none, as during a restart."""
    while True:
        with contextlib.suppress(Exception):  # those of what connects, which FastStream does not name
            reply = json.loads((await broker.request(body, subject, timeout=10)).body)
            if reply.get("code") != "unavailable":
                return reply
        await asyncio.sleep(PAUSE_S)


async def answer(broker, row, attempt=0):
    """The record of the row's run; for a wrong question its `code` and `detail`. The run's id is derived from the row."""
    run_id = hashlib.sha256(f"{row['id']} {row['question']} {attempt}".encode()).hexdigest()[:40]
    reply = await request(broker, "gw.runs.ask", run_id=run_id, question=row["question"], priority="batch")
    while reply.get("code") in ("asked", "already_asked") or reply.get("status") == "running":
        await asyncio.sleep(PAUSE_S)
        reply = await request(broker, "gw.runs.get", run_id=run_id)
    if reply.get("unrun") not in ("overloaded", "withdrawn"):
        return reply  # else the run never began, and its id is used up
    return await answer(broker, row, attempt + 1)


async def work(broker, rows, db):
    for row in rows:  # those that no other task has taken
        if not db.execute("SELECT id FROM answers WHERE id = ?", (row["id"],)).fetchone():
            record = await answer(broker, row)
            found = record.get("outcome") or record["code"], record.get("answer") or record["detail"]
            db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (row["id"], *found))


async def main(url, rows, db):
    broker = NatsBroker(url, logger=None, max_reconnect_attempts=-1)
    await broker.start()
    await asyncio.gather(*(work(broker, rows, db) for _ in range(AT_ONCE)))
    await broker.stop()


if __name__ == "__main__":
    db = sqlite3.connect(sys.argv[3], isolation_level=None)
    db.execute("CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, outcome TEXT, answer TEXT)")
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        asyncio.run(main(sys.argv[1], csv.DictReader(file), db))
