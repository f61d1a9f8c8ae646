/** An element with its attributes, listeners (`onclick`, …) and children; texts are never read as markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

export const byId = (id) => document.getElementById(id)

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function time(iso) {
  return iso ? element('time', { datetime: iso }, format.format(new Date(iso))) : undefined
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`

/** Asks before something is deleted; true when the user confirms. */
export function confirmed(title, text) {
  const dialog = byId('confirm')
  byId('confirm-title').textContent = title
  byId('confirm-text').textContent = text
  dialog.returnValue = 'no'
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true })
  })
}

export function notify(error) {
  const notice = byId('notice')
  notice.hidden = error === undefined
  notice.textContent = error?.message ?? ''
}

/** @throws Error with the backend's own message */
export async function call(path, body) {
  const json = { 'content-type': 'application/json' }
  const options = body === undefined ? {} : { method: 'POST', headers: json, body: JSON.stringify(body) }
  const response = await fetch(path, options)
  const answer = await response.json().catch(() => ({ error: `The backend answered ${response.status}` }))
  if (!response.ok) throw new Error(answer.error)
  return answer
}
