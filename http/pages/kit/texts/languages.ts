import { de } from './de.ts'
import { en, type Texts } from './en.ts'

const LANGUAGES: Record<string, Texts> = { en, de }

export const LANGUAGE_TAGS = Object.keys(LANGUAGES)

/** The texts in the language of a tag such as `de-AT`; null where there are none. */
export function textsIn(tag: string | undefined): Texts | null {
  const language = tag?.toLowerCase().split(/[-_]/)[0] ?? ''
  return Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] ?? null) : null
}

export const DEFAULT_TEXTS: Texts = en
