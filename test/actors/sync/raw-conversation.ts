/** A provider's object of a conversation of one message (docs/provider.md, Conversations). `updateTime`: Unix seconds, also when it began. */
export const rawConversation = ({
  id,
  title,
  text,
  updateTime,
  fileIds = [],
}: {
  id: string
  title: string | null
  text: string
  updateTime: number
  /** Files that the message's metadata names. */
  fileIds?: string[]
}) => ({
  id,
  title,
  create_time: updateTime,
  update_time: updateTime,
  current_node: 'node',
  mapping: {
    node: {
      id: 'node',
      parent: null,
      message: {
        id: 'node',
        author: { role: 'user' },
        create_time: updateTime,
        content: { content_type: 'text', parts: [text] },
        metadata: { attachments: fileIds.map((fileId) => ({ id: fileId, name: 'name' })) },
      },
    },
  },
})
