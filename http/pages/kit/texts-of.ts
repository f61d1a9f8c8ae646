import type { Request } from 'express'
import { contextOf } from '../../kit/context.ts'
import type { Texts } from './texts/en.ts'
import { DEFAULT_TEXTS, LANGUAGE_TAGS, textsIn } from './texts/languages.ts'

/** The texts in the language that the link asks for (claim `locale`), else in the visitor's (RFC 9110, Accept-Language), else in English. */
export function textsOf(request: Request): Texts {
  const accepted = request.acceptsLanguages(LANGUAGE_TAGS)
  return textsIn(contextOf(request).locale) ?? textsIn(accepted || undefined) ?? DEFAULT_TEXTS
}
