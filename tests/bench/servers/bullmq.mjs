// bullmq - what BullMQ does with as many jobs: `push` adds them, sixteen at once, `work` does them, 32 at a time.
// SOCKET: of the server. COUNT: how many. Run in the directory of a package that has bullmq and ioredis.
import { createRequire } from 'module'
const require = createRequire(process.cwd() + '/')
const { Queue, Worker } = require('bullmq')
const IORedis = require('ioredis')

const count = Number(process.env.COUNT)
const connect = () => new IORedis(process.env.SOCKET, { maxRetriesPerRequest: null })
const data = { x: 'x'.repeat(91) } // a hundred bytes, as JSON

if (process.argv[2] === 'push') {
  const connection = connect()
  const queue = new Queue('peer', { connection })
  for (let i = 0; i < count; i += 16)
    await queue.addBulk(Array.from({ length: 16 }, () => ({ name: 'j', data, opts: { removeOnComplete: true } })))
  await queue.close()
  connection.disconnect()
} else {
  const connection = connect()
  let done = 0
  await new Promise(resolve => {
    const worker = new Worker('peer', async () => {}, { connection, concurrency: 32 })
    worker.on('completed', async () => {
      if (++done < count) return
      await worker.close()
      resolve()
    })
  })
  connection.disconnect()
}
