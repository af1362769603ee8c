/** What other areas may use of broadcast messages. */
export { broadcastFollower } from './push_actions.ts';
export { type MessageRow, messagesFor } from './queries.ts';
