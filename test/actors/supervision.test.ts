import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startActorSystem } from '../../actors/supervision.ts'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'

const supervision = suite('supervision')
const clock = systemClock()
const log = createLog({ name: 'test', level: 'silent' })
const system = startActorSystem({ clock, log })
let count = 0
const supervisor = () => system.supervise(`s${count++}`, 'connection')
supervision.after(() => system.stop())

supervision('an actor does one thing at a time, in the order it was told', async () => {
  const { tell, size } = supervisor()
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await clock.sleep(2)
    seen.push(`${name} ends`)
  }
  await Promise.all(['a', 'b', 'c'].map((name) => tell('one', name, work(name))))
  assert.equal(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  assert.is(size(), 0, 'it ended with its last message')
})

supervision('different actors work side by side', async () => {
  const { tell } = supervisor()
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  await Promise.all([tell('waits', 'x', () => gate), tell('opens', 'x', async () => open())])
})

supervision('a crash rejects the one who told it and leaves what was told after it', async () => {
  const { tell, size } = supervisor()
  const crash = tell('one', 'crash', async () => {
    throw new Error('broken')
  })
  const next = tell('one', 'next', async () => undefined)
  const error = await crash.catch((reason: Error) => reason)
  assert.is((error as Error).message, 'broken')
  await next
  assert.is(size(), 0)
  await tell('one', 'again', async () => undefined)
})

supervision('abort ends what an actor is doing; stop ends everything and waits for it', async () => {
  const { tell, abort, stop: stopAll, list } = supervisor()
  const ended: string[] = []
  const untilAborted = (name: string) => async (signal: AbortSignal) => {
    await clock.sleep(60_000, signal).catch(() => ended.push(name))
  }
  const first = tell('one', 'first', untilAborted('first'))
  const second = tell('one', 'second', untilAborted('second'))
  const other = tell('two', 'other', untilAborted('other'))
  await clock.sleep(20)
  assert.equal(
    list().map(({ path, state, doing, mailbox }) => [path.split('/').slice(2).join('/'), state, doing, mailbox]),
    [
      ['shard-0/one', 'working', 'first', 1],
      ['shard-0/two', 'working', 'other', 0],
    ],
  )
  abort('one', new Set(['first']), new Error('enough'))
  await first
  assert.equal(ended, ['first'])
  await stopAll(new Error('over'))
  await Promise.all([second, other])
  assert.equal(ended.sort(), ['first', 'other', 'second'])
})

supervision('thousands of actors fit, whatever their ids look like', async () => {
  const { tell, size } = supervisor()
  let done = 0
  const told = Array.from({ length: 2_500 }, (_, index) =>
    tell(`user:${index}/ü?`, 'x', async () => {
      done += 1
    }),
  )
  assert.is(size(), 2_500)
  await Promise.all(told)
  assert.is(done, 2_500)
  assert.is(size(), 0)
})

supervision.run()
