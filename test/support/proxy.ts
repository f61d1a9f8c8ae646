import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A way to the database that can be cut (`refuse`) or fall silent (`freeze`), as networks do. */
export interface DatabaseProxy {
  url: string
  refuse(): void
  freeze(): void
  /** Cuts the connection of the next statement that contains all of these texts as soon as it is answered: done, and nobody is told. */
  loseAnswerTo(...texts: string[]): { lost(): boolean }
  /** The same, but the connection stays open and is silent from then on. */
  silenceAfter(...texts: string[]): { lost(): boolean }
  /** From now on the answer to every so many statements is lost in the same way; 0: of none. */
  loseAnswers(every: number): void
  /** From now on what goes either way takes so long (ms). */
  slow(byMs: number): void
  restore(): void
  stop(): Promise<void>
}

/** Only for servers that are reached at one address. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  let mode: 'open' | 'refused' | 'frozen' = 'open'
  const sockets = new Set<Socket>()
  let losing: { texts: string[]; lost: boolean; silent: boolean } | undefined
  const losers = new Set<Socket>()
  const silent = new Set<Socket>()
  let loseEvery = 0
  let statements = 0
  let delayMs = 0
  /** Where a connection goes whose next answer is lost; undefined: on. */
  const fateOf = (bytes: Buffer): Set<Socket> | undefined => {
    if (losing && !losing.lost && losing.texts.every((text) => bytes.includes(text))) {
      losing.lost = true
      return losing.silent ? silent : losers
    }
    statements += 1
    return loseEvery > 0 && statements % loseEvery === 0 ? losers : undefined
  }
  const forward = (from: Socket, to: Socket, { asks }: { asks: boolean }): void => {
    let passing = Promise.resolve()
    let underWay = 0
    const pass = (bytes: Buffer): void => {
      if (mode === 'open' && !to.destroyed) to.write(bytes)
    }
    from.on('data', (bytes) => {
      if (losers.has(to)) return void to.destroy()
      if (silent.has(to)) return
      if (asks) fateOf(bytes)?.add(from)
      if (delayMs === 0 && underWay === 0) return pass(bytes)
      const due = performance.now() + delayMs
      underWay += 1
      passing = passing.then(async () => {
        await sleep(Math.max(0, due - performance.now()))
        underWay -= 1
        pass(bytes)
      })
    })
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }
  const server = createServer((socket) => {
    if (mode === 'refused') return void socket.destroy()
    const upstream = connect(Number(target.port || 27_017), target.hostname)
    for (const each of [socket, upstream]) {
      sockets.add(each)
      each.on('close', () => sockets.delete(each))
    }
    forward(socket, upstream, { asks: true })
    forward(upstream, socket, { asks: false })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const lose = (texts: string[], silently: boolean): { lost(): boolean } => {
    const loss = { texts, lost: false, silent: silently }
    losing = loss
    return { lost: () => loss.lost }
  }
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    refuse: () => {
      mode = 'refused'
      cut()
    },
    loseAnswerTo: (...texts) => lose(texts, false),
    silenceAfter: (...texts) => lose(texts, true),
    loseAnswers: (every) => {
      loseEvery = every
    },
    slow: (byMs) => {
      delayMs = byMs
    },
    freeze: () => {
      mode = 'frozen'
    },
    restore: () => {
      mode = 'open'
      cut()
    },
    stop: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
