import mongoose, { type SchemaDefinition } from 'mongoose'

/** A document inside a document, without an id of its own. */
export const embedded = (fields: SchemaDefinition) => new mongoose.Schema(fields, { _id: false, versionKey: false })
