/**
 * Text that repeats itself about as much as people do, from a seed: a few words often, most of them seldom. (A sentence that is repeated
 * compresses far better, and faster, than anybody's conversation.)
 */
const SYLLABLES = ['an', 'ber', 'co', 'da', 'el', 'fi', 'gor', 'hu', 'in', 'jo', 'ka', 'lum', 'me', 'no', 'or', 'pi']
const WORDS = Array.from({ length: 2_000 }, (_, index) =>
  [index % 16, (index >> 4) % 16, (index >> 8) % 16]
    .slice(0, 1 + (index % 3))
    .map((at) => SYLLABLES[at])
    .join(''),
)
const MESSAGES = 12
const MESSAGE_WORDS = 150

export function createText(seed = 1): (words: number) => string {
  let state = seed
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
  return (words) => Array.from({ length: words }, () => WORDS[Math.floor(random() ** 3 * WORDS.length)]).join(' ')
}

/** The payload of an ordinary conversation, some 10 KB. */
export function payloadOf(title: string, text: (words: number) => string): string {
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: text(MESSAGE_WORDS),
    timestamp: '2026-01-01T00:00:00.000Z',
    id: `message-${index}`,
    contentType: 'text',
    status: 'finished_successfully',
  }))
  return JSON.stringify({ title, messages })
}
