import { runProcess } from '../../core/process.ts'

/** A process for the suite beside it: two parts, and what its first argument says. */
await runProcess({
  kind: 'fixture',
  start: async (_runtime, parts) => {
    parts.add({ stop: () => console.log('first stopped') })
    parts.add({ stop: () => console.log('second stopped') })
    // Keeps the process alive, as a listener would.
    setInterval(() => undefined, 1_000)
    if (process.argv[2] === 'fails') throw new Error('the third cannot start')
    if (process.argv[2] === 'hangs') {
      process.send?.({ starting: true })
      await new Promise(() => undefined)
    }
    return { url: 'somewhere' }
  },
})
