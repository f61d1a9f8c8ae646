import type { Response } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { type Piece, textBytes, textOf } from '../../core/gzip-pieces.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import {
  isLarge,
  LISTED,
  type ListedConversation,
  type ListedEntry,
  readPayloads,
} from '../../schemas/archive/conversation-body.ts'
import { readParts } from '../../schemas/archive/conversation-part.ts'

/** A new version may be stored while the parts of the old one are read; then they are read again. */
const READ_TIMES = 5

/** Text of a page that is sent in one go to who does not take gzip: a thousand times as much as its pieces takes memory until it is read. */
const MOST_UNPACKED = 4 * 1024 * 1024

/** True of a page that is better unpacked one by one. */
export const unpacksToMuch = (conversations: ListedConversation[]): boolean =>
  conversations.reduce((sum, { payload }) => sum + (payload === null ? 0 : textBytes(payload)), 0) > MOST_UNPACKED

/** The JSON text of one conversation (docs/behaviour.md, Conversation) in pieces. The payload is JSON text already and goes out as it was stored. */
function conversationPieces({ _id, externalId, title, updateTime }: ListedConversation, payload: Piece): Piece[] {
  const time = updateTime ? `"${updateTime.toISOString()}"` : 'null'
  return [
    `{"id":"${_id}","external_id":${JSON.stringify(externalId)},"title":${JSON.stringify(title ?? null)},"payload":`,
    payload,
    `,"update_time":${time}}`,
  ]
}

/** A page without large conversations, in pieces. */
export const pagePieces = (conversations: ListedConversation[], tail: string): Piece[] => [
  '{"conversations":[',
  ...conversations.flatMap((conversation, index) => [
    ...(index > 0 ? [','] : []),
    ...conversationPieces(conversation, conversation.payload ?? 'null'),
  ]),
  `],${tail}`,
]

const conversationText = (conversation: ListedConversation, payload: Piece): string =>
  conversationPieces(conversation, payload).map(textOf).join('')

/** Sends a page that holds large conversations, or too much to be unpacked at once, one by one, so that memory holds no more than one of them. */
export async function sendLargePage({
  response,
  conversations,
  tail,
}: {
  response: Response
  conversations: ListedConversation[]
  tail: string
}): Promise<void> {
  response.type('application/json')
  const drained = draining(response)
  const write = async (text: string): Promise<void> => {
    if (!response.write(text)) await drained()
    if (response.destroyed) throw new Error('the client went away')
  }
  let before = '{"conversations":['
  for (const conversation of conversations) {
    // The first one is read before anything is sent, so that a failure can still be told.
    const text = isLarge(conversation)
      ? await largeText(conversation)
      : conversationText(conversation, conversation.payload ?? 'null')
    if (text === undefined) continue
    await write(before + text)
    before = ','
  }
  response.end(`${before === ',' ? '' : before}],${tail}`)
}

/**
 * Returns what waits until more may be sent, or the client is gone. It listens once for the whole answer, which may wait many times: what compresses an
 * answer takes the listeners of `drain` for itself, and they cannot be removed from there.
 */
function draining(response: Response): () => Promise<void> {
  let goOn = (): void => undefined
  for (const event of ['drain', 'close']) response.on(event, () => goOn())
  return () =>
    new Promise((resolve) => {
      goOn = resolve
      if (response.destroyed) resolve()
    })
}

/** Undefined where it was deleted meanwhile. */
async function largeText(listed: ListedConversation): Promise<string | undefined> {
  let current: ListedConversation | undefined = listed
  for (let time = 0; time < READ_TIMES; time++) {
    if (!current) return undefined
    if (!isLarge(current)) return conversationText(current, current.payload ?? 'null')
    const conversationId: string = current._id
    const bytes = await readParts({ conversationId, kind: 'payload', version: current.partsVersion })
    if (bytes) return conversationText(current, bytes.toString('utf8'))
    const entry = await Conversations.findById(conversationId).select(LISTED).lean<ListedEntry>()
    current = entry ? (await readPayloads([entry]))[0] : undefined
  }
  throw new ServiceError('busy')
}
