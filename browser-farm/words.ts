import { EXPIRED } from '../schemas/lease/lease-ends.ts'

/** What visitors are told. Each failure ends with what to do next. */
const AGAIN = 'Return to the app and start again.'

export const WORDS = {
  expired: EXPIRED,
  unwatched: `Nobody was here for a while, so this sign-in was closed. ${AGAIN}`,
  unopened: `The sign-in page could not be opened. ${AGAIN}`,
  unfinished: `The connection could not be completed. ${AGAIN}`,
  restarted: 'The browser had to be opened anew. Please sign in once more.',
  providerAway: 'The sign-in page does not answer yet. Trying again…',
  unanswered: 'The page does not answer. Please try again.',
  outside: (host: string) => `${host} is not part of the sign-in, so it was not opened.`,
  noDownload: 'Downloads are not possible here.',
  noUpload: 'Files cannot be chosen here.',
  dialog: (text: string) => `The page says: ${text}`,
}
