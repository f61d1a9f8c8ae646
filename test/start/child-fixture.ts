import { appendFileSync } from 'node:fs'

/** A child for the suite beside it: notes its life in a file, and does as its environment says. */
const file = process.env['FIXTURE_FILE'] ?? ''
appendFileSync(file, `started ${process.pid}\n`)
if (process.env['FIXTURE_FAILS'] === 'true') process.exit(3)
process.on('SIGTERM', () => {
  appendFileSync(file, `stopped ${process.pid}\n`)
  process.exit(0)
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
