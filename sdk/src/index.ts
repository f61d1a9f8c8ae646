export {
  type Cancellable,
  type Client,
  type ClientOptions,
  type ConversationsOptions,
  createClient,
  type EachOptions,
  type IngestOptions,
  type PurgeTarget,
} from './client.ts'
export { type DeliveryMemory, deliveryMemory } from './delivery-memory.ts'
export { CcsError } from './errors.ts'
export {
  type EventName,
  type EventOf,
  type EventPayloads,
  isKnownEvent,
  type KnownEvent,
  type UnknownEvent,
  type WebhookEvent,
} from './events.ts'
export type { ExportFile } from './export-body.ts'
export { type ExpressHandler, type ExpressRequest, expressWebhook } from './express-webhook.ts'
export { fetchWebhook } from './fetch-webhook.ts'
export { type LinkPurpose, type SignedLink, type SignLinkOptions, signLink } from './sign-link.ts'
export type {
  Attachment,
  Connection,
  ConnectionStatus,
  Conversation,
  ConversationPage,
  ConversationPayload,
  IngestResult,
  Message,
  PurgeResult,
  UserConnections,
} from './types.ts'
export { type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts'
export { WebhookVerificationError, type WebhookVerificationReason } from './webhook-error.ts'
export type { RejectedWebhook, WebhookHandlerOptions } from './webhook-receiver.ts'
