import { once } from './once.ts'
import { showPreview } from './preview.ts'

/** Improves what works without it: local times, copying a secret, forms that are sent once, a preview that follows the form. */
const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
  time.title = time.textContent ?? ''
  time.textContent = local.format(new Date(time.dateTime))
}

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
  const secret = button.parentElement?.querySelector('[data-secret]')?.textContent ?? ''
  // Browsers have a clipboard where the page is secure (TLS, or loopback).
  if (!navigator.clipboard) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    const said = await navigator.clipboard.writeText(secret).then(
      () => 'Copied',
      () => 'Not allowed: select it',
    )
    button.textContent = said
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[method="post"]')) once(form)

// On a phone the sections scroll: the present one is brought into sight.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

const preview = document.querySelector<HTMLElement>('[data-preview]')
if (preview) showPreview(preview)
