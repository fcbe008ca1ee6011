// A tool endpoint with a database of its own. It keeps the key of each write and
// its result in the transaction of that write.
//
//   node server.js DATABASE
//
// prints the port that it listens on. `text` in a write's arguments chooses what
// goes wrong after the commit: "slow" answers late, "cut" closes the connection.

import express from 'express'
import sqlite from 'node-sqlite3-wasm'

const db = new sqlite.Database(process.argv[2])
db.exec(`
  CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, tenant TEXT, author TEXT, text TEXT);
  CREATE TABLE IF NOT EXISTS tool_executions (key TEXT PRIMARY KEY, result TEXT);
  CREATE TABLE IF NOT EXISTS requests (tool TEXT, key TEXT, request_id TEXT);
`)

const countNotes = (tenant) => db.get('SELECT count(*) AS notes FROM notes WHERE tenant = ?', [tenant])

function addNoteOnce(key, tenant, user, text) {
  db.exec('BEGIN IMMEDIATE')
  try {
    const prior = db.get('SELECT result FROM tool_executions WHERE key = ?', [key])
    if (prior) {
      db.exec('COMMIT')
      return { result: JSON.parse(prior.result), again: true }
    }
    const { lastInsertRowid } = db.run('INSERT INTO notes (tenant, author, text) VALUES (?, ?, ?)', [tenant, user, text])
    const result = { id: Number(lastInsertRowid) }
    db.run('INSERT INTO tool_executions VALUES (?, ?)', [key, JSON.stringify(result)])
    db.exec('COMMIT')
    return { result, again: false }
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

const app = express()
app.use(express.json())

app.post('/tools', (req, res) => {
  const key = req.get('X-Tether-Idempotency-Key')
  const { request_id, tool, tenant, user, args } = req.body
  db.run('INSERT INTO requests VALUES (?, ?, ?)', [tool, key ?? null, request_id ?? null])

  switch (tool) {
    case 'count_notes': {
      return res.json(countNotes(tenant))
    }
    case 'flaky_count': {
      // The first two requests of a call meet an endpoint that is overloaded.
      const { seen } = db.get('SELECT count(*) AS seen FROM requests WHERE key = ?', [key])
      return seen < 3 ? res.status(503).end() : res.json(countNotes(tenant))
    }
    case 'add_note': {
      if (args.text === '') return res.status(422).json({ code: 'EMPTY_NOTE', message: 'a note has a text' })
      const { result, again } = addNoteOnce(key, tenant, user, args.text)
      if (args.text === 'cut' && !again) return req.socket.destroy()
      if (args.text === 'slow' && !again) return setTimeout(() => res.json(result), 60_000).unref()
      return res.json(result)
    }
    default:
      return res.status(404).json({ code: 'NO_SUCH_TOOL', message: `there is no tool ${tool}` })
  }
})

// For whoever counts effects where they land.
app.get('/seen', (req, res) => {
  res.json({
    notes: db.get('SELECT count(*) AS n FROM notes').n,
    keys: db.get('SELECT count(DISTINCT key) AS n FROM requests').n,
    requests: db.all('SELECT tool, key, request_id FROM requests'),
  })
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
