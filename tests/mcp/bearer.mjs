// Puts a task's token on every request, since the conformance suite presents none: `node bearer.mjs KERNEL_PORT` with the token
// in ACTUM_TOKEN. All else, Host and Origin among it, goes through as it came. Prints its own port.
import http from 'node:http'

const [port] = process.argv.slice(2)
const server = http.createServer((came, answer) => {
  const headers = { ...came.headers, authorization: `Bearer ${process.env.ACTUM_TOKEN}` }
  const { method, url: path } = came
  const going = http.request({ host: '127.0.0.1', port, method, path, headers }, (got) => {
    answer.writeHead(got.statusCode, got.headers)
    got.pipe(answer)
  })
  going.on('error', () => answer.destroy())
  answer.on('close', () => going.destroy())
  came.pipe(going)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
