/** The interface of broadcast messages to other districts. */
export { broadcastFollower } from './push_actions.ts';
export { type MessageRow, messagesFor } from './queries.ts';
