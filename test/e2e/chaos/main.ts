import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runChaos } from './run.ts'

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string', default: '3' } } })
const seed = values.seed ?? randomUUID().slice(0, 8)
const say = (text: string): void => void process.stderr.write(`${text}\n`)

say(`npm run chaos -- --seed ${seed} --minutes ${values.minutes}`)
const { wrong, notes, log } = await runChaos({ seed, forMs: Number(values.minutes) * 60_000, say })
const file = join(tmpdir(), `chaos-${seed}.log`)
await writeFile(file, [...wrong, '', ...notes, '', log].join('\n'))
say(wrong.length === 0 ? 'Everything holds.' : wrong.join('\n'))
say(`What happened: ${file}`)
process.exit(wrong.length === 0 ? 0 : 1)
