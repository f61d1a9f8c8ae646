import type { Clock } from '../../../../core/clock.ts'
import type { Send } from './pointer.ts'
import { texts } from './texts.ts'

/** A visitor's own clipboard may be written to for a few seconds after their key; the answer has to come before that is over. */
const ANSWER_MS = 3_000

/** Copies what is selected on the remote page to the visitor's own clipboard, where the browser allows it. */
export function createCopy({
  send,
  notify,
  clock,
}: {
  send: Send
  notify: (message: string) => void
  clock: Pick<Clock, 'sleep'>
}): { ask(): void; copied(text: string): void } {
  let waiting: ((text: string) => void) | undefined
  const selection = (): Promise<string> => {
    const asked = new Promise<string>((resolve) => {
      waiting = resolve
    })
    send({ type: 'copy' })
    return Promise.race([asked, clock.sleep(ANSWER_MS).then(() => '')])
  }
  return {
    ask: () => {
      const text = selection()
      write(text).then(
        async () => notify((await text) === '' ? texts.remote.nothingSelected : texts.remote.copied),
        async () => notify((await text) === '' ? texts.remote.nothingSelected : texts.remote.notCopied),
      )
    },
    copied: (text) => waiting?.(text),
  }
}

/** With a promise where the browser takes one: Safari allows no writing once something was waited for. */
async function write(text: Promise<string>): Promise<void> {
  const whole = async (): Promise<string> => {
    const selected = await text
    // An empty selection leaves the clipboard as it is.
    if (selected === '') throw new Error('nothing is selected')
    return selected
  }
  if ('ClipboardItem' in globalThis && 'write' in navigator.clipboard) {
    const blob = whole().then((selected) => new Blob([selected], { type: 'text/plain' }))
    return navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })])
  }
  return (navigator as Navigator).clipboard.writeText(await whole())
}
