import { find } from '../../kit/assets/dom.ts'
import { DEFAULT_TEXTS, textsIn } from '../../kit/texts/languages.ts'

const { app = '', provider = '' } = find('main.start').dataset

/** What the page says, in the language of its document. */
export const texts = textsIn(document.documentElement.lang) ?? DEFAULT_TEXTS

/** Whom it speaks of. */
export const names = { app, provider }
