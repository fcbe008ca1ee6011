// The same work in Express with better-sqlite3, as its page on tool endpoints has it:
// a look-up, and a write that keeps the key and its result in its own transaction.
//
//   node server.js DATABASE
//
// prints the port that it listens on.

import Database from 'better-sqlite3'
import express from 'express'

const db = new Database(process.argv[2])
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE IF NOT EXISTS tool_executions (key TEXT PRIMARY KEY, result TEXT NOT NULL)')

const find = db.prepare('SELECT id, title, state, amount_cents, currency FROM tickets WHERE id = ?')
const prior = db.prepare('SELECT result FROM tool_executions WHERE key = ?')
const open = db.prepare('INSERT INTO tickets (title, amount_cents, currency) VALUES (?, ?, ?)')
const record = db.prepare('INSERT INTO tool_executions (key, result) VALUES (?, ?)')

const openOnce = db.transaction((key, { title, amount_cents, currency }) => {
  const known = prior.get(key)
  if (known) return JSON.parse(known.result)
  const { lastInsertRowid } = open.run(title, amount_cents, currency)
  const result = { ticket_id: Number(lastInsertRowid) }
  record.run(key, JSON.stringify(result))
  return result
})

const app = express()
app.use(express.json())

app.post('/v1/tools/get_ticket/calls', (req, res) => {
  const ticket = find.get(req.body.args.ticket_id)
  return ticket ? res.json(ticket) : res.status(404).end()
})

app.post('/tools', (req, res) => {
  const key = req.get('X-Tether-Idempotency-Key')
  return key ? res.json(openOnce.immediate(key, req.body.args)) : res.status(400).end()
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
