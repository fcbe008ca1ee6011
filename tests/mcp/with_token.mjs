// A proxy that adds a token to every request: the conformance suite sends none. It prints
// its port. Host and Origin stay as they came, since the suite tests what becomes of them.
import { createServer, request } from 'node:http'

const [port, token] = process.argv.slice(2)

const proxy = createServer((asked, answer) => {
  const headers = { ...asked.headers, authorization: `Bearer ${token}` }
  const options = { host: '127.0.0.1', port, path: asked.url, method: asked.method, headers }
  const forwarded = request(options, (got) => {
    answer.writeHead(got.statusCode, got.headers)
    got.pipe(answer)
  })
  forwarded.on('error', () => answer.destroy())
  answer.on('close', () => forwarded.destroy())
  asked.pipe(forwarded)
})

proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port))
