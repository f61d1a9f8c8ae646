import type { Logger } from './log.ts'

/** Something that was started and has to be stopped. */
interface Part {
  stop(): unknown
}

/** What a process has started so far; stopped last to first. */
export interface Parts {
  /** Notes a part that has just started, and returns it. */
  add<P extends Part>(part: P): P
  /** Stops every part, whatever becomes of the others. */
  stop(): Promise<void>
}

/** Init paired with shutdown: whoever starts a part adds it at once, so that a start which fails half-way leaves nothing running. */
export function createParts({ log }: { log: Logger }): Parts {
  const started: Part[] = []
  const stop = async (): Promise<void> => {
    // Not a walk over the list: what is added while it stops is stopped too.
    for (let part = started.pop(); part !== undefined; part = started.pop()) {
      try {
        await part.stop()
      } catch (error) {
        log.error({ err: error }, 'stop failed')
      }
    }
  }
  return {
    add: (part) => {
      started.push(part)
      return part
    },
    stop,
  }
}
