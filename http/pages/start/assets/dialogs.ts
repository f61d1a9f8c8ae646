import type { RemoteDialog } from '../../../../wire/remote-dialogs.ts'
import { make } from './element.ts'
import type { Send } from './pointer.ts'
import { texts } from './texts.ts'

/** What the remote page asks, asked here. */
interface Dialogs {
  show(dialog: RemoteDialog): void
  close(id: string): void
  closeAll(): void
}

export function createDialogs(send: Send): Dialogs {
  const open = new Map<string, HTMLDialogElement>()
  const close = (id: string): void => {
    const dialog = open.get(id)
    open.delete(id)
    dialog?.close()
    dialog?.remove()
  }
  return {
    show: (remote) => {
      const { id } = remote
      // A connection that came back tells it again.
      if (open.has(id)) return
      const fields = fieldsOf(remote)
      const answer = (accepted: boolean): void => {
        const [text, password] = accepted ? fields.map(({ value }) => value) : []
        send({
          type: 'answer',
          id,
          accepted,
          ...(text !== undefined && { text }),
          ...(password !== undefined && { password }),
        })
        close(id)
      }
      const dialog = dialogOf({ remote, fields, answer })
      open.set(id, dialog)
      document.body.append(dialog)
      dialog.showModal()
      // What is typed takes the place of what a prompt begins with, as in a browser's own.
      fields[0]?.select()
    },
    close,
    closeAll: () => {
      for (const id of [...open.keys()]) close(id)
    },
  }
}

function fieldsOf({ kind, value }: RemoteDialog): HTMLInputElement[] {
  if (kind === 'prompt') {
    const input = make('input', { type: 'text', 'aria-label': texts.remote.answer, autocomplete: 'off' })
    input.value = value
    return [input]
  }
  if (kind !== 'sign-in') return []
  return [
    make('input', {
      type: 'text',
      'aria-label': texts.remote.user,
      placeholder: texts.remote.user,
      autocomplete: 'off',
      autocapitalize: 'none',
    }),
    make('input', {
      type: 'password',
      'aria-label': texts.remote.password,
      placeholder: texts.remote.password,
      autocomplete: 'off',
    }),
  ]
}

function dialogOf({
  remote: { id, kind, site, message },
  fields,
  answer,
}: {
  remote: RemoteDialog
  fields: HTMLInputElement[]
  answer: (accepted: boolean) => void
}): HTMLDialogElement {
  const { leave, asks, says } = texts.remote
  const [heading, text] =
    kind === 'sign-in' ? [asks(site), ''] : [says(site), kind === 'beforeunload' ? leave : message]
  const headingId = `site-${id}`
  const textId = `words-${id}`
  const buttons = [make('button', { type: 'submit', class: 'button' }, texts.remote.ok)]
  if (kind !== 'alert') {
    const cancel = make('button', { type: 'button' }, texts.remote.cancel)
    cancel.addEventListener('click', () => answer(false))
    buttons.push(cancel)
  }
  const form = make(
    'form',
    {},
    make('h2', { id: headingId }, heading),
    ...(text === '' ? [] : [make('p', { id: textId, class: 'remote-words' }, text)]),
    ...fields,
    make('div', { class: 'dialog-buttons' }, ...buttons),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    answer(true)
  })
  const dialog = make('dialog', { role: 'dialog', class: 'remote-dialog', 'aria-labelledby': headingId }, form)
  if (text !== '') dialog.setAttribute('aria-describedby', textId)
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault()
    answer(false)
  })
  return dialog
}
