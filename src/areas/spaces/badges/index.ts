/** What other areas may use of badges. */
export { groupBadges, projectBadges } from './relation.ts';
export { Badge } from './routes.ts';
