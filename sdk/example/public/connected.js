import { finishConnect } from '/ccs-browser.js'

const words = {
  connected: 'Connected. You can close this window.',
  cancelled: 'Cancelled. You can close this window.',
  expired: 'The time was over. You can close this window.',
  failed: 'Not connected. You can close this window.',
}
document.getElementById('outcome').textContent = words[finishConnect()]
