/** What one look found: a line that says what is wrong and what to do about it, or what was seen. */
export interface Finding {
  state: 'ok' | 'wrong' | 'left out'
  about: string
  text: string
}

export const fine = (about: string, text: string): Finding => ({ state: 'ok', about, text })
export const wrong = (about: string, text: string): Finding => ({ state: 'wrong', about, text })
export const leftOut = (about: string, text: string): Finding => ({ state: 'left out', about, text })

/** The first line of what went wrong, without what an address may carry. */
export function reason(error: unknown): string {
  const { message, cause } = error as { message?: unknown; cause?: { code?: string; message?: string } }
  const text = cause?.code ?? cause?.message ?? String(message ?? error)
  return (text.split('\n')[0] ?? '').replace(/\/\/[^@\s/]*@/g, '//')
}
