/** One key as it was pressed: `text` is a character, anything else has a name. */
export type Key =
  | { name: 'text'; text: string }
  | {
      name:
        | 'up'
        | 'down'
        | 'left'
        | 'right'
        | 'home'
        | 'end'
        | 'page-up'
        | 'page-down'
        | 'enter'
        | 'escape'
        | 'backspace'
        | 'clear'
        | 'interrupt'
    }

type Name = Exclude<Key['name'], 'text'>

const SEQUENCES: Record<string, Name> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  '[5~': 'page-up',
  '[6~': 'page-down',
}

const CONTROLS: Record<string, Name> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x15': 'clear',
  '\x03': 'interrupt',
}

const ESCAPE = '\x1b'
/** A sequence of which the terminal has sent a part so far. */
const UNFINISHED = /^(?:\[[0-9;]*|O)?$/
const SEQUENCE = /^(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Za-z])/

/**
 * The keys in what a terminal sent, which may be many at once, and what is left of a sequence that it has not finished. Sequences that mean
 * nothing here are left out, as are other control characters.
 */
function readKeys(sent: string): { keys: Key[]; rest: string } {
  const keys: Key[] = []
  let left = sent
  while (left !== '') {
    if (left.startsWith(ESCAPE)) {
      const after = left.slice(1)
      if (UNFINISHED.test(after)) return { keys, rest: left }
      const [sequence = ''] = SEQUENCE.exec(after) ?? []
      const name = sequence === '' ? 'escape' : SEQUENCES[sequence]
      if (name) keys.push({ name })
      left = after.slice(sequence.length)
      continue
    }
    const character = String.fromCodePoint(left.codePointAt(0) ?? 0)
    const name = CONTROLS[character]
    if (name) keys.push({ name })
    else if (!/\p{Cc}/u.test(character)) keys.push({ name: 'text', text: character })
    left = left.slice(character.length)
  }
  return { keys, rest: '' }
}

/** A sequence comes in one go or nearly so: what stays alone for so long was the Escape key (ms). */
const ALONE_MS = 30

/** Returns what takes whatever a terminal sends and calls `press` with each key. */
export function keyReader(press: (key: Key) => void): (sent: string) => void {
  let rest = ''
  let timer: NodeJS.Timeout | undefined
  return (sent) => {
    clearTimeout(timer)
    const read = readKeys(rest + sent)
    rest = read.rest
    for (const key of read.keys) press(key)
    if (rest === '') return
    timer = setTimeout(() => {
      rest = ''
      press({ name: 'escape' })
    }, ALONE_MS)
  }
}
