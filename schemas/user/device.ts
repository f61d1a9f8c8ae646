/** What native connect says of the device; stored for support. */
export interface Device {
  platform?: string
  osVersion?: string
  sdkVersion?: string
  model?: string
  appVersion?: string
}
