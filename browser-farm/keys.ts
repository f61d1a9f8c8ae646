import type { KeyMessage } from '../wire/stream.ts'
import { ALT, CONTROL, META, SHIFT } from '../wire/stream-constants.ts'

/** A key event as the remote browser is given it. */
interface AllowedKey {
  key: string
  code: string
  windowsVirtualKeyCode: number
  modifiers: number
  text?: string
}

/** Keys that type nothing, and what may be held with them. Alt and Meta never may: those are the browser's and the system's own. */
const NAMED: Record<string, { keyCode: number; with: number }> = {
  Enter: { keyCode: 13, with: CONTROL | SHIFT },
  Tab: { keyCode: 9, with: SHIFT },
  Escape: { keyCode: 27, with: 0 },
  Backspace: { keyCode: 8, with: CONTROL | SHIFT },
  // Shift+Delete cuts.
  Delete: { keyCode: 46, with: CONTROL },
  ArrowLeft: { keyCode: 37, with: CONTROL | SHIFT },
  ArrowUp: { keyCode: 38, with: CONTROL | SHIFT },
  ArrowRight: { keyCode: 39, with: CONTROL | SHIFT },
  ArrowDown: { keyCode: 40, with: CONTROL | SHIFT },
  Home: { keyCode: 36, with: CONTROL | SHIFT },
  End: { keyCode: 35, with: CONTROL | SHIFT },
  PageUp: { keyCode: 33, with: SHIFT },
  PageDown: { keyCode: 34, with: SHIFT },
}
const MODIFIER_KEYS: Record<string, number> = { Shift: 16, Control: 17, Alt: 18, CapsLock: 20 }
/** With Ctrl: select all, undo, redo. */
const LETTERS: Record<string, { with: number }> = { A: { with: 0 }, Y: { with: 0 }, Z: { with: SHIFT } }
/** Where keys lie that type something; empty where the visitor's browser does not know. */
const PRINTING_CODE =
  /^(|Key[A-Z]|Digit\d|Numpad.+|Space|Backquote|Minus|Equal|Bracket(Left|Right)|Backslash|Semicolon|Quote|Comma|Period|Slash|Intl\w+)$/
const CLIPBOARD_CODES = new Set(['KeyC', 'KeyV', 'KeyX'])

/** Digits, letters, the number pad and signs; what other browsers number differently is not passed on. */
const printing = (keyCode: number): boolean =>
  keyCode === 32 ||
  (keyCode >= 48 && keyCode <= 57) ||
  (keyCode >= 65 && keyCode <= 90) ||
  (keyCode >= 96 && keyCode <= 111) ||
  (keyCode >= 186 && keyCode <= 192) ||
  (keyCode >= 219 && keyCode <= 222)

/**
 * What a visitor's key means to the remote browser, or null for what must not reach it (docs/security.md, Between visitors, between
 * secrets). A list of what is allowed: `key`, `code` and `keyCode` have to tell of the same key, and what is given to the browser is written
 * here, not there, so that nothing but this list can reach its clipboard, its shortcuts or its menus.
 */
export function allowedKey(message: KeyMessage): AllowedKey | null {
  const { key, modifiers } = message
  if (Object.hasOwn(NAMED, key)) return namedKey(message)
  if (Object.hasOwn(MODIFIER_KEYS, key)) return modifierKey(message)
  if (!/^\P{Cc}$/u.test(key)) return null
  if ((modifiers & (CONTROL | ALT | META)) === 0) return printingKey(message)
  return letterKey(message)
}

function namedKey({ key, code, keyCode, modifiers }: KeyMessage): AllowedKey | null {
  const named = NAMED[key]
  const isPlace = code === key || code.startsWith('Numpad') || code === ''
  if (!named || keyCode !== named.keyCode || !isPlace) return null
  if ((modifiers & ~named.with) !== 0) return null
  return { key, code: key, windowsVirtualKeyCode: keyCode, modifiers, ...(key === 'Enter' && { text: '\r' }) }
}

function modifierKey({ key, code, modifiers }: KeyMessage): AllowedKey | null {
  const windowsVirtualKeyCode = MODIFIER_KEYS[key]
  if (windowsVirtualKeyCode === undefined || !code.startsWith(key)) return null
  return { key, code, windowsVirtualKeyCode, modifiers: modifiers & (CONTROL | SHIFT) }
}

function printingKey({ key, code, keyCode, modifiers }: KeyMessage): AllowedKey | null {
  if (!PRINTING_CODE.test(code)) return null
  const windowsVirtualKeyCode = printing(keyCode) ? keyCode : 0
  return { key, code, windowsVirtualKeyCode, modifiers: modifiers & SHIFT, text: key }
}

function letterKey({ key, code, keyCode, modifiers }: KeyMessage): AllowedKey | null {
  const letter = String.fromCharCode(keyCode)
  const allowed = Object.hasOwn(LETTERS, letter) && LETTERS[letter]
  if (!allowed || (modifiers & ~(CONTROL | allowed.with)) !== 0) return null
  // A layout without Latin letters has its own under the same key; one with them may have moved the letter.
  const isLatin = /^[ -~]$/.test(key)
  const agrees = isLatin
    ? key.toUpperCase() === letter && PRINTING_CODE.test(code) && !CLIPBOARD_CODES.has(code)
    : code === `Key${letter}`
  return agrees ? { key: letter.toLowerCase(), code: `Key${letter}`, windowsVirtualKeyCode: keyCode, modifiers } : null
}
