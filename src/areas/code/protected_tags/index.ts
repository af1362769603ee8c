/** The interface of protected tags to other districts. */
export { tagProtectionFor } from './queries.ts';
export { protectedTags } from './relation.ts';
