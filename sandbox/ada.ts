import { conversationId, linearConversation, type RawConversation } from './raw.ts'
import { at, daysBefore } from './times.ts'

/** Seconds between two turns of a conversation. */
const STEP_S = 30

/**
 * `ada`'s twelve conversations. The first three began within the last 30 days (so recentConversationCount is 3); the
 * fourth is old but was continued lately; the others are of 2025. Each: title, start, turns (user first, in turn).
 */
const ADA: [title: string | null, start: string | { daysAgo: number }, ...turns: string[]][] = [
  [
    'Packing list for Lisbon',
    { daysAgo: 1 },
    'What should I pack for a weekend in Lisbon?',
    'Light layers, good shoes for the hills, and a rain jacket.',
    'Is tap water fine there?',
    'Yes, tap water in Lisbon is safe to drink.',
  ],
  [
    'Sourdough schedule',
    { daysAgo: 5 },
    'I want to bake on Saturday at 10. When do I feed the starter?',
    'Feed it on Friday at 8 in the morning, mix at 16:00, and shape at 22:00.',
  ],
  [
    'Interview questions',
    { daysAgo: 12 },
    'Give me three questions to ask an interviewer.',
    '1. What does success look like after six months?\n2. How does the team decide?\n3. What would you change first?',
  ],
  [
    'Guitar practice plan',
    '2025-02-03T18:00:00Z',
    'Plan 20 minutes of guitar practice a day.',
    '5 minutes of scales, 10 minutes of chord changes, 5 minutes of a song.',
  ],
  [
    'Analytical engine',
    '2025-10-14T09:30:00Z',
    'Who wrote the first published program?',
    'Ada Lovelace, in her notes of 1843 on the Analytical Engine.',
    'What did it compute?',
    'The Bernoulli numbers.',
  ],
  [
    'Regex for dates',
    '2025-09-02T13:05:00Z',
    'A regular expression for dates like 2025-09-02?',
    '`^\\d{4}-\\d{2}-\\d{2}$`',
  ],
  [
    'Café names',
    '2025-08-21T07:15:00Z',
    'Trois noms pour un café, s’il te plaît ☕',
    'Le Petit Zèbre, Chez Noé, Café des Étoiles ✨',
  ],
  [null, '2025-07-30T20:45:00Z', 'hi', 'Hello! How can I help?'],
  ['Rate of a loan', '2025-06-11T10:00:00Z', '10,000 at 4 % for one year, paid at the end?', '10,400.'],
  [
    'Haiku about rain',
    '2025-05-05T05:05:05Z',
    'Write a haiku about rain.',
    'Soft rain on the roof\nthe garden leans in to hear\nwhat the clouds whisper',
  ],
  ['Unit conversion', '2025-04-01T12:00:00Z', 'How many miles are 42.195 km?', 'About 26.219 miles.'],
  [
    'Name the bug',
    '2025-03-01T08:00:00Z',
    'My loop runs once too often, why?',
    'Most likely an off-by-one error: use `<` instead of `<=`.',
    'Thanks!',
    'You are welcome.',
  ],
]

/** How many days before the anchor the fourth conversation was continued. */
const CONTINUED_DAYS_AGO = 3

export function adaConversations(email: string, anchor: number): RawConversation[] {
  return ADA.map(([title, start, ...texts], i) => {
    const begin = typeof start === 'string' ? at(start) : daysBefore(anchor, start.daysAgo)
    const turns = texts.map((text, turn) => ({
      role: turn % 2 === 0 ? ('user' as const) : ('assistant' as const),
      text,
      time: begin + turn * STEP_S,
    }))
    if (i === 3) {
      const lately = daysBefore(anchor, CONTINUED_DAYS_AGO)
      turns.push({ role: 'user', text: 'Make it 30 minutes.', time: lately })
      turns.push({ role: 'assistant', text: 'Double the chord changes to 20 minutes.', time: lately + STEP_S })
    }
    return linearConversation({ id: conversationId(email, i + 1), title, turns })
  })
}
