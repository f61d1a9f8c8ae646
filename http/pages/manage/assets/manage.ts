/** Shows moments in the visitor's own time zone; without this script they stand there in UTC. */
const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

for (const time of document.querySelectorAll('time')) {
  time.title = time.textContent ?? ''
  time.textContent = local.format(new Date(time.dateTime))
}
