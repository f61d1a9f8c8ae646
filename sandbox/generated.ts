import type { SandboxAccount } from './accounts.ts'
import { conversationId, linearConversation, type RawConversation, type Turn } from './raw.ts'
import { at, daysBefore } from './times.ts'

/** Start of the second newest conversation; each older one began an hour earlier. */
const BASE = at('2025-06-01T12:00:00Z')
const HOUR_S = 3600
const STEP_S = 20
const SUBJECTS = [
  'tomatoes',
  'a trip to Kyoto',
  'quarterly numbers',
  'linear algebra',
  'a birthday speech',
  'running shoes',
  'tax forms',
]

/**
 * The nth conversation (from 1, the newest) of a generated account, made of its number alone. The first began two days
 * before the anchor, so that every such account has one recent conversation; the others are old.
 */
export function generatedConversation(
  { email }: Pick<SandboxAccount, 'email'>,
  number: number,
  anchor: number,
): RawConversation {
  const subject = subjectOf(number)
  const start = startOf(number, anchor)
  const turns: Turn[] = []
  for (let i = 0; i < 2 + 2 * (number % 3); i++) {
    const role = i % 2 === 0 ? 'user' : 'assistant'
    const text = role === 'user' ? `Question ${i / 2 + 1} about ${subject}?` : `Answer ${(i + 1) / 2} about ${subject}.`
    turns.push({ role, text, time: start + i * STEP_S })
  }
  return linearConversation({ id: conversationId(email, number), title: titleOf(number), turns })
}

/** What the list tells of it, without making the whole. */
export function generatedSummary({ email }: Pick<SandboxAccount, 'email'>, number: number, anchor: number) {
  const start = startOf(number, anchor)
  const last = 1 + 2 * (number % 3)
  return {
    id: conversationId(email, number),
    title: titleOf(number),
    create_time: start,
    update_time: start + last * STEP_S,
  }
}

function titleOf(number: number): string {
  return `Conversation ${number}: ${subjectOf(number)}`
}

function subjectOf(number: number): string {
  return SUBJECTS[number % SUBJECTS.length] ?? ''
}

function startOf(number: number, anchor: number): number {
  return number === 1 ? daysBefore(anchor, 2) : BASE - number * HOUR_S
}
