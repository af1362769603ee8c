/** What other areas may use of protected tags. */
export { type TagProtection, tagProtectionFor } from './queries.ts';
export { protectedTags } from './relation.ts';
