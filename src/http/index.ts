/** What areas write endpoints with. */

export { cloneUrls, type Services } from '../services/index.ts';
export { causeOfCall } from './cause.ts';
export * from './cursor.ts';
export { deleteFound } from './deletion.ts';
export { type DescribedDoor, type Door, type DoorCall, type Doorway, door, type Identification } from './door.ts';
export * from './endpoint.ts';
export { type ErrorForm, jsonForm, messageOf } from './error_replies.ts';
export * from './errors.ts';
export * from './filters.ts';
export type { Values } from './form.ts';
export { idIn, largestIid } from './ids.ts';

export { allOrNoneOf, atLeastOneOf, exactlyOneOf, mutuallyExclusive, type Rule } from './input.ts';
export { leavingOf } from './leaving.ts';
export { inAddress, locationOf } from './links.ts';
export { readParts, tooLarge } from './multipart.ts';
export { gitPatience_ms } from './overload.ts';
export { pushPace, uploadPace } from './pace.ts';
export * from './page_ends.ts';
export * from './page_start.ts';
export * from './paginate.ts';
export { needsPlan, type Plan, reaches } from './plans.ts';
export * from './reply.ts';
export { scopesFor } from './scopes.ts';
export { fileReply, type Reading } from './stored_file.ts';
export { streamOf } from './streamed_body.ts';
export * from './types.ts';
export type { UploadedFile } from './uploaded_file.ts';
