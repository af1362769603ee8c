/** The interface of epics to other districts. */
export { RelatedEpic } from './link_routes.ts';
export { epicNoun } from './noteable.ts';
export { Epic, type EpicReply } from './present.ts';
export { epics } from './relation.ts';
