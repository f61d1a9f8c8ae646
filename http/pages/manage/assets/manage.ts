import { systemClock } from '../../../../core/clock.ts'

/** How often the page looks how far an import has come. */
const LOOK_EVERY_MS = 3_000
/** Offered as long as there is anything to delete. */
const DELETION = '.danger'

const { lang } = document.documentElement
const local = new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, { dateStyle: 'medium', timeStyle: 'short' })

/** Shows moments in the visitor's own time zone; without this script they stand there in UTC. */
function showMoments(): void {
  for (const time of document.querySelectorAll('time')) {
    time.title ||= time.textContent ?? ''
    time.textContent = local.format(new Date(time.dateTime))
  }
}

/** Brings counts and progress up to date while something is being imported, without a reload. */
async function followImports(): Promise<void> {
  const clock = systemClock()
  while (document.querySelector('[data-importing]')) {
    await clock.sleep(LOOK_EVERY_MS)
    if (document.visibilityState !== 'visible') continue
    const text = await fetch(location.pathname).then(
      (answer) => (answer.ok ? answer.text() : ''),
      () => '',
    )
    if (text === '') continue
    const page = new DOMParser().parseFromString(text, 'text/html')
    const fresh = page.querySelector('.connections')
    // Deleted meanwhile, from elsewhere: it is another page by now.
    if (!fresh || !page.querySelector(DELETION)) return location.reload()
    document.querySelector('.connections')?.replaceWith(fresh)
    showMoments()
  }
}

showMoments()
void followImports()
